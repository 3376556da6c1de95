"""Words of compile commands that keep the machine's paths and processes out of the code.

They change no meaning, and are not in the key: builds from any folder are the same, byte by byte.
Variants for tools that open the files which the code names keep true paths, and have them in the key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fictl.emu import places as emulated_places
from fictl.emu.toolchain import ROOT as EMULATOR
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.store.entry import Entry
from fictl.paths import data_root, own_folders

# Part of the keys: builds and objects of other versions may have other names for folders.
RULES = "paths/3"
_HIDE_PATHS = {"cuda": ("release",), "emu": ("fast", "check", "profile")}
# Compilers take their folder's name from PWD, if that is true. The one of a build is a random one.
HERE = "/proc/self/cwd"
ENVIRONMENT = {"PWD": HERE}
# SOURCE_DATE_EPOCH would not do: Clang knows it since 16 only, and it is not for the last one.
_MOMENT = (
    '-D__DATE__="Jan  1 1970"',
    '-D__TIME__="00:00:00"',
    '-D__TIMESTAMP__="Thu Jan  1 00:00:00 1970"',
)

_UNIT = data_root("kernels") / "binding" / "unit.h"
# In nvcc's own shell command, these would end a word in double quotes, or the list that it is in.
_NOT_FOR_NVCC = re.compile(r'[$`"\\,\n]')


@dataclass(frozen=True)
class Place:
    """A folder of this machine, and the name that stands for it in the code."""

    folder: str
    name: str


def hides_paths(device: str, variant: str) -> bool:
    """True where names stand for folders; other variants keep true paths, for debuggers."""
    return variant in _HIDE_PATHS[device]


def rules(device: str, variant: str, files: Iterable[Path]) -> tuple[str, ...]:
    """Return the part of a key that tells apart builds of these files by the paths in the code."""
    if hides_paths(device, variant):
        return (RULES,)
    return tuple(sorted(str(path) for path in files))


def remember_folders(spec: ModuleSpec, entry: Entry) -> None:
    """Lead the names in the code of an emulated build to this spec's files, in reports."""

    @cache
    def folders() -> list[tuple[str, str]]:
        return [(place.name, place.folder) for place in places_of(spec, ())[1:]]

    if entry.manifest.device == "emu":
        emulated_places.remember(entry.path, folders)


def places_of(spec: ModuleSpec, libraries: Iterable[tuple[str, Path]]) -> tuple[Place, ...]:
    """List the folders that a build's sources and headers can be in, the most specific last.

    `libraries` are names and folders of headers that are not the project's.
    """
    named = [
        *own_folders().items(),  # For what lies in no folder of the following.
        ("fictl/emu", EMULATOR),
        *libraries,
        *(() if spec.is_runtime else _folders_of(spec)),
    ]
    places = {place.folder: place for name, folder in named for place in _spelled(name, folder)}
    known = sorted(places.values(), key=lambda place: len(place.folder))
    return (Place(HERE, "."), *known)


def _folders_of(spec: ModuleSpec) -> Iterator[tuple[str, Path]]:
    op = spec.name.replace(".", "/")
    yield from (("include", folder) for folder in spec.include_dirs)
    yield from ((op, source.parent) for source in spec.sources)
    yield op, spec.base


def _spelled(name: str, folder: Path) -> Iterator[Place]:
    """Yield a folder as it is written, and as it is behind links: compilers use either."""
    for text in dict.fromkeys((str(folder.absolute()), os.path.realpath(folder))):
        if text != "/" and "=" not in text:  # A compiler ends the folder at the first '='.
            yield Place(text, name)


def words(places: Sequence[Place], stem: str, source: Path, by_nvcc: bool) -> tuple[str, ...]:
    """Return what the command of a unit needs; nothing without places."""
    if not places:
        return ()
    unit = _unit_name(stem)
    if not by_nvcc:
        return (*_host_words(places, unit), *_MOMENT)
    return _nvcc_words(places, unit, _named(source, places))


def _named(path: Path, places: Iterable[Place]) -> str:
    """Return a path as it is in the code; of a folder without a name, the file's own."""
    inside = [place for place in places if str(path).startswith(f"{place.folder}{os.sep}")]
    last = inside[-1] if inside else None
    return f"{last.name}{str(path)[len(last.folder) :]}" if last else path.name


def _host_words(places: Iterable[Place], unit: str) -> tuple[str, ...]:
    """Return the words for a host compiler: names of places, and no random number in symbols."""
    maps = (f"-ffile-prefix-map={place.folder}={place.name}" for place in places)
    return (f"-frandom-seed={unit}", "-Wno-builtin-macro-redefined", *maps)


def _nvcc_words(places: Iterable[Place], unit: str, source: str) -> tuple[str, ...]:
    """Return the words for nvcc, whose front end names local symbols after `source` and the file's
    first external symbol.
    """
    mapped = [place for place in places if not _NOT_FOR_NVCC.search(place.folder)]
    return (
        f'-Xcudafe="--orig_src_path_name={source}"',
        f"-DFICTL_UNIT={unit}",
        *_MOMENT,
        "-include",
        str(_UNIT),
        *(f'-Xcompiler="{word}"' for word in _host_words(mapped, unit)),
    )


def _unit_name(stem: str) -> str:
    """Return a C identifier for a unit of a module."""
    return f"fictl_unit_{re.sub(r'[^0-9A-Za-z]', lambda sign: f'_{ord(sign[0]):x}_', stem)}"
