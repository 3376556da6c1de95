"""The platform of a build: CPU, system, and the oldest C and C++ libraries that can load it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Kinds of libraries with symbol versions, and how the names of these begin; the first is libc.
VERSIONED = {"glibc": "GLIBC", "glibcxx": "GLIBCXX", "cxxabi": "CXXABI"}
_NEED = re.compile(r"([a-z]+)((?:\d{1,9}(?:\.\d{1,9})*)?)")
_NUMBER = re.compile(r"\d{1,9}(\.\d{1,9})*")
# Versions of glibc whose names have no number, with the release that first had them.
_UNNUMBERED = {
    "GLIBC_ABI_DT_RELR": "2.36",
    "GLIBC_ABI_GNU_TLS": "2.42",
    "GLIBC_ABI_GNU2_TLS": "2.42",
}
_MACHINES = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64", "EM_RISCV": "riscv64"}


@dataclass(frozen=True)
class Platform:
    """A platform, written as in `x86_64-linux-glibc2.34-glibcxx3.4.26-cxxabi1.3.9`.

    `needs` are kinds of libraries with their oldest version, the libc first; '' is any version.
    """

    machine: str
    system: str
    needs: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return "-".join((self.machine, self.system, *(kind + floor for kind, floor in self.needs)))

    @classmethod
    def parse(cls, text: str) -> Platform:
        """Read the written form; raise ValueError for any other text."""
        machine, system, *rest = (*text.split("-"), "", "")[: max(2, text.count("-") + 1)]
        matches = [_NEED.fullmatch(word) for word in rest]
        if not re.fullmatch(r"\w+-[a-z]+", f"{machine}-{system}") or not all(matches):
            raise ValueError(f"{text!r} is not a platform, as in x86_64-linux-glibc2.34")
        return cls(machine, system, tuple((match[1], match[2]) for match in matches if match))

    def floor(self, kind: str) -> tuple[int, ...] | None:
        """Return the oldest version of `glibc`, `glibcxx` or `cxxabi` that will do; None for any."""
        version = dict(self.needs).get(kind)
        return numbers(version) if version else None

    @property
    def libc(self) -> str:
        """The kind of C library, `glibc` or `musl`; '' if it needs none."""
        return next((kind for kind, _ in self.needs if kind in ("glibc", "musl")), "")

    @property
    def general(self) -> str:
        """The part that is known before a build, without versions: `x86_64-linux-glibc`."""
        return "-".join(filter(None, (self.machine, self.system, self.libc)))


def measured(module: Path) -> Platform | None:
    """Read what a library needs from its ELF header and symbol versions; None if it is not an ELF file."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    with module.open("rb") as file:
        try:
            elf = ELFFile(file)
            machine = str(elf["e_machine"])
            needs = tuple(_needs(*_named(elf)))
        except (ELFError, UnicodeDecodeError, AttributeError, KeyError, ValueError):
            return None
    return Platform(_MACHINES.get(machine, machine.removeprefix("EM_").lower()), "linux", needs)


def _named(elf: Any) -> tuple[list[str], list[str]]:
    """Return the names of the libraries and of the symbol versions that an ELF file needs."""
    from elftools.elf.dynamic import DynamicSection
    from elftools.elf.gnuversions import GNUVerNeedSection

    libraries, versions = [], []
    for section in elf.iter_sections():
        if isinstance(section, DynamicSection):
            needed: Iterator[Any] = section.iter_tags("DT_NEEDED")
            libraries += [str(tag.needed) for tag in needed]
        elif isinstance(section, GNUVerNeedSection):
            versions += [str(one.name) for _, ones in section.iter_versions() for one in ones]
    return libraries, versions


def _needs(libraries: Iterable[str], versions: Iterable[str]) -> Iterator[tuple[str, str]]:
    floors: dict[str, list[str]] = {}
    for name in versions:
        prefix, _, number = name.partition("_")
        number = _UNNUMBERED.get(name, number)
        if _NUMBER.fullmatch(number):
            floors.setdefault(prefix, []).append(number)
    for kind, prefix in VERSIONED.items():
        if prefix in floors:
            yield kind, max(floors[prefix], key=numbers)
        elif kind == "glibc" and "libc.so.6" in libraries:
            yield kind, ""
        elif kind == "glibc" and any(re.match(r"libc\.(musl-|so$)", name) for name in libraries):
            yield "musl", ""


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
