"""The platform tag of a wheel, measured from the modules in it: `manylinux_2_34_x86_64`.

A manylinux tag promises more than a C library: the C++ library of that time, and no other library
than those that every system has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fictl.errors import SetupError
from fictl.jit.store.entry import Entry
from fictl.jit.store.platform import Platform, measured
from fictl.toolchain import cudart_name

Version = tuple[int, ...]

# The newest symbols that each manylinux promises, as auditwheel's policies list them (6.8, x86_64
# and aarch64): release of glibc, GLIBCXX, CXXABI.
_PROMISED: tuple[tuple[Version, Version, Version], ...] = (
    ((2, 17), (3, 4, 19), (1, 3, 7)),
    ((2, 24), (3, 4, 22), (1, 3, 10)),
    ((2, 27), (3, 4, 24), (1, 3, 11)),
    ((2, 31), (3, 4, 28), (1, 3, 12)),
    ((2, 34), (3, 4, 29), (1, 3, 13)),
    ((2, 35), (3, 4, 30), (1, 3, 13)),
    ((2, 39), (3, 4, 33), (1, 3, 15)),
)
# Libraries that every system of a manylinux has, those that fictl loads before any module (with the
# CUDA runtime of the build), and the driver's. The loader's own name differs by CPU.
_EVERYWHERE = frozenset(
    ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1")
    + ("libstdc++.so.6", "libgcc_s.so.1")
)
_BROUGHT = frozenset(("libtvm_ffi.so", "libfictl_emu.so", "libcuda.so.1"))


def platform_tag(entries: Iterable[Entry]) -> str:
    """Return the oldest manylinux tag that all of these builds keep; refuse what keeps none."""
    floors: dict[str, Version] = {}
    for entry in entries:
        machine, floor = _floor(entry)
        floors[machine] = max(floor, floors.get(machine, floor))
    if len(floors) != 1:
        raise SetupError(
            f"these builds are for several CPUs: {', '.join(sorted(floors))}",
            "a wheel is for one: build them anew on this machine",
        )
    ((machine, floor),) = floors.items()
    return f"manylinux_{floor[0]}_{floor[1]}_{machine}"


def _floor(entry: Entry) -> tuple[str, Version]:
    """Return the CPU of a build and the glibc of the oldest manylinux that it keeps."""
    name = f"{entry.manifest.project}/{entry.manifest.module}"
    platform = _platform(name, entry)
    stranger = next(_strangers(entry), None)
    if stranger is not None:
        raise SetupError(
            f"{name} needs {stranger}, which no manylinux system has to have",
            "link it statically (ldflags of the module), or ship a folder: fictl aot build --out DIR",
        )
    return platform.machine, max(_glibc(name, platform), _of_cxx_library(name, platform))


def _platform(name: str, entry: Entry) -> Platform:
    platform = measured(entry.module)
    if platform is None:
        raise SetupError(
            f"{name}: {entry.module} is not an ELF file", "fictl cache verify --repair"
        )
    if platform.system != "linux" or platform.libc == "musl":
        raise SetupError(
            f"{name} is built for {platform}: manylinux is for Linux with glibc",
            "build on a system with glibc, as in a manylinux_2_28 image",
        )
    return platform


def _glibc(name: str, platform: Platform) -> Version:
    oldest = _PROMISED[0][0]
    return max(oldest, (platform.floor("glibc") or oldest)[:2])


def _of_cxx_library(name: str, platform: Platform) -> Version:
    """Return the glibc of the first manylinux that promises the C++ library that a build needs."""
    glibcxx, cxxabi = platform.floor("glibcxx") or (), platform.floor("cxxabi") or ()
    for glibc, newest_glibcxx, newest_cxxabi in _PROMISED:
        if glibcxx <= newest_glibcxx and cxxabi <= newest_cxxabi:
            return glibc
    newest = ".".join(map(str, _PROMISED[-1][1]))
    raise SetupError(
        f"{name} is built for {platform}: no manylinux promises a libstdc++ newer than "
        f"GLIBCXX_{newest}",
        "build with an older g++ (CXX=g++-13), or in a manylinux_2_28 image",
    )


def _strangers(entry: Entry) -> Iterator[str]:
    """Yield the libraries that a module needs and that may be absent elsewhere."""
    known = {*_EVERYWHERE, *_BROUGHT, cudart_name(entry.manifest.cudart)}
    for name in _needed(entry.module):
        if not name.startswith("ld-linux") and name not in known:
            yield name


def _needed(module: Path) -> Iterator[str]:
    from elftools.elf.dynamic import DynamicSection
    from elftools.elf.elffile import ELFFile

    with module.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if isinstance(section, DynamicSection):
                tags: Iterator[Any] = section.iter_tags("DT_NEEDED")
                yield from (str(tag.needed) for tag in tags)
