"""Register pressure: the instruction of a kernel at which most registers are live."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fictl.inspect.instruction import SassInstruction

_SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+)")
_LIVE = re.compile(r"\s+/\*([0-9a-f]{4,})\*/.*//\s*\|\s*(\d+)\s*\|")


@dataclass(frozen=True)
class Peak:
    """First instruction at which the most general registers, `live`, are in use."""

    live: int
    instruction: SassInstruction


def peaks(ranges: str, code: Mapping[str, Sequence[SassInstruction]]) -> dict[str, Peak]:
    """Peaks by mangled name, of nvdisasm's counts and the same code with its lines."""
    highest: dict[str, Peak] = {}
    name, by_offset = "", dict[int, SassInstruction]()
    for line in ranges.splitlines():
        if match := _SECTION.match(line):
            name = match[1]
            by_offset = {one.offset: one for one in code.get(name, ())}
        elif match := _LIVE.match(line):
            instruction, live = by_offset.get(int(match[1], 16)), int(match[2])
            if instruction and (name not in highest or live > highest[name].live):
                highest[name] = Peak(live, instruction)
    return highest
