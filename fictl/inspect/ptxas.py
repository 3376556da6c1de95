"""Parser of the resources that `ptxas -v` prints for each kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_BARRIERS = re.compile(r"used (\d+) barriers")
_SHARED = re.compile(r"(\d+) bytes smem")
_STACK = re.compile(r"(\d+) bytes cumulative stack size")


@dataclass(frozen=True)
class Usage:
    """Resources of one kernel and the functions it calls: bytes of a thread, `shared` of
    a block.
    """

    registers: int = 0
    barriers: int = 0
    shared: int = 0
    local: int = 0
    spill_stores: int = 0
    spill_loads: int = 0


def parse_ptxas(text: str) -> dict[str, Usage]:
    """Parse resources by mangled name; ptxas prints called functions after their kernel."""
    usage: dict[str, Usage] = {}
    kernel = ""
    for line in text.splitlines():
        if match := _ENTRY.search(line):
            kernel = match[1]
            usage[kernel] = Usage()
        elif kernel and (match := _FRAME.search(line)):
            before = usage[kernel]
            frame, stores, loads = map(int, match.groups())
            usage[kernel] = replace(
                before,
                local=max(before.local, frame),
                spill_stores=before.spill_stores + stores,
                spill_loads=before.spill_loads + loads,
            )
        elif kernel and (match := _USED.search(line)):
            before = usage[kernel]
            usage[kernel] = replace(
                before,
                registers=int(match[1]),
                barriers=_number(_BARRIERS, line),
                shared=_number(_SHARED, line),
                local=max(before.local, _number(_STACK, line)),
            )
    return usage


def _number(pattern: re.Pattern[str], line: str) -> int:
    """Number on a line of ptxas; 0 if it is missing."""
    match = pattern.search(line)
    return int(match[1]) if match else 0
