"""The phases of one compile: the list of `nvcc --time`, grouped by purpose."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from fictl.arch import Arch

# These run once for every target; other phases belong to the last target before them.
_PER_TARGET = ("cicc", "ptxas")
_REST = "driver"


@dataclass(frozen=True)
class Phase:
    """One step of a unit; `arch` is set if it runs once for each target."""

    unit: str
    name: str
    seconds: float
    arch: str = ""


def nvcc_phases(table: str, source: Path, wall: float) -> list[Phase]:
    """Return phases, longest first. Time not in the table is the driver's; the sum is `wall`."""
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    for line in table.splitlines():
        # Why not split first: the source's path may have a comma.
        fields = [field.strip() for field in line.removeprefix(str(source)).split(",")]
        if len(fields) >= 6 and fields[-1] == "ms":
            name = _named(fields[1])
            arch = _arch(fields[-4]) if name in _PER_TARGET else ""
            seconds[name, arch] += float(fields[-2]) / 1000
    seconds.pop((_REST, ""), None)
    seconds[_REST, ""] = max(0.0, wall - sum(seconds.values()))
    phases = [Phase(source.name, name, took, arch) for (name, arch), took in seconds.items()]
    return sorted(phases, key=lambda phase: -phase.seconds)


def host_phases(unit: str, preprocess: float, syntax: float, wall: float) -> list[Phase]:
    """Split three runs into phases: to the preprocessed text, to the end of parsing, to the object."""
    steps = {"preprocess": preprocess, "parse": syntax - preprocess, "generate code": wall - syntax}
    return [Phase(unit, name, max(0.0, seconds)) for name, seconds in steps.items()]


def _named(phase: str) -> str:
    """Name a phase by its purpose: `g++ (preprocessing 4)` is preprocess."""
    if "(preprocessing" in phase:
        return "preprocess"
    if "(compiling" in phase:
        return "host compiler"
    return _REST if "(driver" in phase else phase


def _arch(target: str) -> str:
    """Return the architecture: `compute_90a` and `sm_90a` are 9.0a."""
    match = re.fullmatch(r"(?:sm|compute|lto)_(\d+[af]?)", target)
    return str(Arch.parse(match[1])) if match else target
