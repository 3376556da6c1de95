"""PTX of each kernel: its text and its launch bounds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_ENTRY = re.compile(r"^[^\n{;]*\.entry\s+([^\s(]+)", re.MULTILINE)
_BOUND = re.compile(r"^\.(?:maxntid|reqntid)\s+([\d,\s]+?)\s*$", re.MULTILINE)
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.MULTILINE)
_LOCATION = re.compile(r"^[ \t]*\.loc[ \t]+(\d+)[ \t]+(\d+).*$", re.MULTILINE)


@dataclass(frozen=True)
class PtxEntry:
    """PTX of one kernel; `threads` is its launch bound, None without one."""

    text: str
    threads: int | None


def parse_ptx(text: str) -> dict[str, PtxEntry]:
    """Parse the kernels of a PTX text, by mangled name."""
    starts = list(_ENTRY.finditer(text))
    entries = {}
    for match in starts:
        end = text.find("\n}", match.start())
        body = text[match.start() : end + 2 if end >= 0 else len(text)]
        bound = _BOUND.search(body.partition("\n{")[0])
        entries[match[1]] = PtxEntry(body, _product(bound[1]) if bound else None)
    return entries


def with_lines(body: str, whole: str, shown: Callable[[str, int], str]) -> str:
    """Replace `.loc` in the text of a kernel by the source lines."""
    files = {int(number): name for number, name in _FILE.findall(whole)}

    def line(match: re.Match[str]) -> str:
        return f"\t// {shown(files.get(int(match[1]), '?'), int(match[2]))}"

    return _LOCATION.sub(line, body)


def _product(numbers: str) -> int:
    product = 1
    for number in numbers.split(","):
        product *= int(number)
    return product
