"""Parsers of settings' values: functions of a text; their errors say what is expected."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from fictl.arch import parse_archs
from fictl.errors import InvalidValue
from fictl.quantity import parse_whole

_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")


def boolean(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ValueError(f"expected one of {', '.join(_TRUE + _FALSE)}")


def whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            return parse_whole(text, low, high)
        except InvalidValue:
            raise ValueError(f"expected a whole number from {low} to {high}") from None

    return parse


# One process per core of the largest machine; seconds of a week.
MOST_PROCESSES, WEEK = 65_536, 604_800


def choice(*values: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in values:
            raise ValueError(f"expected one of {', '.join(values)}")
        return text.lower()

    return parse


# Names of the call log's levels; each adds to the level before it.
_LEVELS = {"off": 0, "calls": 1, "values": 3, "statistics": 5, "dumps": 10}
DUMPS = _LEVELS["dumps"]


def call_level(text: str) -> int:
    numbers = {str(level): level for level in _LEVELS.values()}
    level = _LEVELS.get(text.lower(), numbers.get(text))
    if level is None:
        raise ValueError(f"expected {', '.join(f'{n} ({name})' for name, n in _LEVELS.items())}")
    return level


def gigabytes(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9}", text):
        raise ValueError(f"expected a number from 0 to {10**9 - 1}, as in 20 or 0.5")
    return float(text)


def names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def arch_list(text: str) -> str:
    if not parse_archs(text) and "native" not in text.lower():
        raise ValueError("it names no architecture, as '8.0 9.0a' does")
    return text


def schedule(text: str) -> str:
    if not re.fullmatch(r"forward|reverse|random(-[0-9]{1,18})?", text.lower()):
        raise ValueError("expected forward, reverse, random or random-<seed>")
    return text.lower()


def path(text: str) -> Path:
    return Path(text).expanduser()


def tuned(text: str) -> Path | None:
    """Parse a path; Path() stands for the tuner's own default file."""
    if text.lower() in _FALSE:
        return None
    return Path() if text.lower() in _TRUE else path(text)


def paths(text: str) -> tuple[Path, ...]:
    return tuple(path(part) for part in text.split(os.pathsep) if part)


REMOTE_SCHEMES = ("s3", "gs", "az", "file", "https", "http", "memory")


def urls(text: str) -> tuple[str, ...]:
    """Parse URLs separated by spaces."""
    for url in text.split():
        scheme, separator, rest = url.partition("://")
        if not separator or scheme not in REMOTE_SCHEMES or not rest.strip("/"):
            raise ValueError(f"expected URLs that begin with {':// '.join(REMOTE_SCHEMES)}://")
    return tuple(text.split())


def words(text: str) -> tuple[str, ...]:
    return tuple(shlex.split(text))
