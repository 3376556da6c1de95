"""Removal of secrets from a text and, for bug trackers, of names of users and machines."""

from __future__ import annotations

import platform
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

HIDDEN = "<hidden>"

_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW(OR)?D|PASSPHRASE|CREDENTIAL|COOKIE|SIGNATURE|AUTH(?!OR)|(?<=_)PWD|\bsig\b",
    re.IGNORECASE,
)
# Names of counts and sizes, which kernels use.
_COUNT_NAME = re.compile(r"KEYS|TOKENS|KEY_?(SIZE|BITS|BYTES|LEN|DIM|PAGE|HEAD)", re.IGNORECASE)
_COUNT = re.compile(r"[\d.,x()*+/-]{1,12}|true|false", re.IGNORECASE)

# One slash is enough: a path may have merged two.
_CREDENTIALS = re.compile(
    r"(\b[a-z][a-z0-9+.-]*:)(?://?[^\s/:@]+:(?!\d+/)\S*|//[^\s/@]+)@", re.IGNORECASE
)
_QUOTED = r"""\\"(?:(?!\\").)*\\"|"[^"]*"|'[^']*'"""
# Ends at the end of the word, or where a list's next assignment begins.
_ASSIGNMENT = re.compile(
    rf"([\w.:-]+)(=)({_QUOTED}|(?:(?![,;|](?:\s|$|[\w.-]+=))\S)+)", re.IGNORECASE
)
_HEADER = re.compile(
    r"((?:authorization|cookie|x-[\w-]*(?:key|token)|private-token)\s*:\s*)[^\"'\n|]+",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"((?<![\w-])--?[\w-]*(?:token|secret|passw(?:or)?d|passphrase|api-?key|credential)(?!s)[\w-]*\s+)"
    rf"({_QUOTED}|[^\s-]\S*)",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"((?<![\w-])(?:-u|--user)[ =])\S+:\S+")
_BEARER = re.compile(r"(\b(?:bearer|basic)\s+)[\w+/.=~-]{8,}", re.IGNORECASE)
# Prefixes of well-known services' tokens.
_ISSUED = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}"
    r"|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{16,}|sk-[\w-]{16,}|nvapi-[\w-]{16,}|npm_\w{16,}"
    r"|pypi-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|AIza[\w-]{30,}|ya29\.[\w-]{10,}"
    r"|eyJ[\w-]{4,}\.[\w-]{8,}\.[\w-]*)"
)
_PRIVATE = re.compile(r"-----BEGIN[^-]*PRIVATE KEY-----.*?(?:-----END[^-]*-----|$)", re.DOTALL)

# Names that are also ordinary words: hiding them would make a text unreadable.
_COMMON = {"root", "user", "localhost", "nobody", "linux"}


def hide_secrets(text: str) -> str:
    """Hide secrets that settings and commands may contain."""
    text = _PRIVATE.sub(HIDDEN, text)
    text = _CREDENTIALS.sub(rf"\1//{HIDDEN}@", text)
    for pattern in (_HEADER, _OPTION, _LOGIN, _BEARER):
        text = pattern.sub(rf"\1{HIDDEN}", text)
    return _ISSUED.sub(HIDDEN, _ASSIGNMENT.sub(_without_secret, text))


def hidden(name: str, value: Any) -> Any:
    """Return the value of a setting, a text or a list of words, with its secrets hidden."""
    if isinstance(value, str):
        return HIDDEN if value and is_secret(name) else hide_secrets(value)
    if isinstance(value, list | tuple):
        # Why in pairs: in `--token abc` the second word alone does not look like a secret.
        pairs = pairwise(["", *map(str, value)])
        return (
            [_after(one, two) if two else two for one, two in pairs]
            if not is_secret(name)
            else HIDDEN
        )
    return value


def _after(before: str, word: str) -> str:
    told = hide_secrets(word)
    return told if told != word or word in hide_secrets(f"{before} {word}") else HIDDEN


def redact(text: str) -> str:
    """Hide names of users and machines, too."""
    text = hide_secrets(text)
    home = str(Path("~").expanduser())
    if len(home) > 1:
        text = re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text)
    for name, instead in ((_user(), "<user>"), *((part, "<host>") for part in _host())):
        if len(name) > 2 and name.lower() not in _COMMON:
            text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", instead, text)
    return text


def is_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None and not _COUNT_NAME.search(name)


def _without_secret(match: re.Match[str]) -> str:
    name, sign, value = match.groups()
    if _COUNT_NAME.search(name) and not _COUNT.fullmatch(value):
        return f"{name}{sign}{HIDDEN}"
    return f"{name}{sign}{HIDDEN}" if is_secret(name) else match[0]


def _user() -> str:
    try:
        import getpass  # This import is slow, and few commands need the name.

        return getpass.getuser()
    except (OSError, KeyError):  # In a container the user may not have a name.
        return ""


def _host() -> tuple[str, ...]:
    node = platform.node()
    return (node, node.partition(".")[0])
