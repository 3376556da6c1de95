"""Hosts in the configuration of the user's ssh."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from fictl.user_file import read_text

# Not hosts are patterns, and what could be taken for an option or another command.
HOST = re.compile(r"(?!-)[\w.-]{1,100}", re.ASCII)
_LINE = re.compile(r"\s*(\w+)(?:\s*=\s*|\s+)(.*)")
_WORD = re.compile(r'"([^"]*)"|([^\s"]+)')
_DEEPEST = 16  # As in ssh.
_MOST_FILES, _MOST_HOSTS, _LARGEST = 64, 1000, 1 << 20


def hosts_in(config: Path) -> list[str]:
    """List the hosts that a configuration and what it includes name.

    Patterns are left out, and hosts that are only a way to others (ProxyJump).
    """
    named, ways = dict[str, None](), set[str]()
    for keyword, words in _lines(config, config.parent, _DEEPEST, set()):
        if keyword == "host":
            named |= dict.fromkeys(word for word in words if HOST.fullmatch(word))
        elif keyword == "proxyjump":
            ways |= {_host_of(jump) for word in words for jump in word.split(",")}
    return [*islice((name for name in named if name not in ways), _MOST_HOSTS)]


def _lines(path: Path, folder: Path, depth: int, seen: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield keywords with their words; each file is read once, and no file that cannot be."""
    real = os.path.realpath(path)
    if real in seen or len(seen) >= _MOST_FILES or depth <= 0:
        return
    seen.add(real)
    try:
        text = read_text(path, errors="replace", largest=_LARGEST)
    except OSError:
        return
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        words = [quoted or plain for quoted, plain in _WORD.findall(match[2])]
        if match[1].lower() != "include":
            yield match[1].lower(), words
            continue
        for pattern in words:
            for included in _included(pattern, folder):
                yield from _lines(included, folder, depth - 1, seen)


def _included(pattern: str, folder: Path) -> list[Path]:
    """Find the files of an Include: below the configuration's folder, unless it says where."""
    where = os.path.join(folder, os.path.expanduser(pattern))
    try:
        return [Path(name) for name in sorted(islice(glob.iglob(where), _MOST_FILES))]  # noqa: PTH207
    except (OSError, ValueError):
        return []


def _host_of(jump: str) -> str:
    """Return the host of a jump, as in ssh://me@gate:22."""
    return jump.rpartition("//")[2].rpartition("@")[2].partition(":")[0]
