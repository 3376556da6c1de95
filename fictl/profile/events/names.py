"""The names of events: kernels record hashes, and their sources hold the names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fictl.errors import FictlError
from fictl.jit import JitSpec
from fictl.jit.recipe import reached_by
from fictl.user_file import read_text

HEADER = "<fictl/device/profiler.cuh>"

# Comments match first, so that their text is not read as an event.
_MACRO = re.compile(
    r'//[^\n]*|/\*.*?\*/|\bFICTL_(?P<macro>KERNEL|EVENT|SCOPE|BEGIN|END)\s*\(\s*"(?P<name>[^"\n]*)"'
    r'|"(?:\\.|[^"\\\n])*"',
    re.DOTALL,
)


@dataclass(frozen=True)
class Names:
    """Names by the ids that kernels record."""

    kernels: Mapping[int, str]
    events: Mapping[int, str]

    def event(self, number: int) -> str:
        """The name of an id; the id itself if no source has its name as a literal."""
        return self.events.get(number, f"{number:#010x}")


def identity(name: str) -> int:
    """FNV-1a hash, as the header computes it."""
    number = 2166136261
    for byte in name.encode():
        number = (number ^ byte) * 16777619 & 0xFFFFFFFF
    return number


def names_of(specs: Iterable[JitSpec]) -> Names:
    """Collect the names from all files that the modules' sources include."""
    files: dict[str, Path] = {}
    for spec in specs:
        files.update(reached_by(spec, *spec.sources, *spec.made_from).files)
    files.pop(HEADER, None)
    return names_in(read_text(path, errors="replace") for path in files.values())


def names_in(sources: Iterable[str]) -> Names:
    """Collect the names from C++ texts."""
    kernels: dict[int, str] = {}
    events: dict[int, str] = {}
    for source in sources:
        for match in _MACRO.finditer(source):
            if match["macro"]:
                _add(kernels if match["macro"] == "KERNEL" else events, match["name"])
    return Names(kernels, events)


def _add(names: dict[int, str], name: str) -> None:
    other = names.setdefault(identity(name), name)
    if other != name:
        raise FictlError(
            f"the names {other!r} and {name!r} have the same hash, {identity(name):#010x}",
            "change a letter of one of them",
        )
