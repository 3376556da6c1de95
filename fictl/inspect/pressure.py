"""Where a kernel has the most registers in use at once: what its number of registers comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fictl.inspect.instruction import Instruction

_SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+)")
_LIVE = re.compile(r"\s+/\*([0-9a-f]{4,})\*/.*//\s*\|\s*(\d+)\s*\|")


@dataclass(frozen=True)
class Peak:
    """The first instruction at which `live` general registers hold what is still needed."""

    live: int
    instruction: Instruction


def peaks(ranges: str, code: Mapping[str, Sequence[Instruction]]) -> dict[str, Peak]:
    """By mangled name, of what nvdisasm counts and of the same code with its lines."""
    found: dict[str, Peak] = {}
    name, by_offset = "", dict[int, Instruction]()
    for line in ranges.splitlines():
        if match := _SECTION.match(line):
            name = match[1]
            by_offset = {each.offset: each for each in code.get(name, ())}
        elif match := _LIVE.match(line):
            each, live = by_offset.get(int(match[1], 16)), int(match[2])
            if each and (name not in found or live > found[name].live):
                found[name] = Peak(live, each)
    return found
