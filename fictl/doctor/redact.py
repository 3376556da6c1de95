"""Taking out of a text what a bug tracker should not see: secrets, and who and where one is."""

from __future__ import annotations

import getpass
import platform
import re
from pathlib import Path

HIDDEN = "<hidden>"

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"([\w.-]+)(=)(\"[^\"]*\"|'[^']*'|[^\s,;|]+)")
_CREDENTIALS = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s/@]+@", re.IGNORECASE)

# Names that are words of their own: hiding them would hide what a text says.
_COMMON = {"root", "user", "localhost", "nobody", "linux"}


def redact(text: str) -> str:
    text = _CREDENTIALS.sub(rf"\1{HIDDEN}@", text)
    text = _ASSIGNMENT.sub(_without_secret, text)
    home = str(Path("~").expanduser())
    if len(home) > 1:
        text = re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text)
    for name, instead in ((_user(), "<user>"), *((part, "<host>") for part in _host())):
        if len(name) > 2 and name.lower() not in _COMMON:
            text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", instead, text)
    return text


def is_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _without_secret(match: re.Match[str]) -> str:
    name, sign, _ = match.groups()
    return f"{name}{sign}{HIDDEN}" if is_secret(name) else match[0]


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # A container's user without a name.
        return ""


def _host() -> tuple[str, ...]:
    node = platform.node()
    return (node, node.partition(".")[0])
