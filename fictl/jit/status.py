"""Build status of a module, from manifests and file hashes alone: nothing is imported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fictl.arch import Arch
from fictl.jit.sources import facts, locate
from fictl.jit.store.entry import Entry
from fictl.jit.store.stores import Store
from fictl.jit.store.this_platform import unfit


@dataclass(frozen=True)
class BuildStatus:
    """`built` while all inputs of a build are unchanged, `stale` after an edit, else `no`; builds for
    other platforms do not count.
    """

    state: str
    archs: tuple[Arch, ...] = ()
    emulated: bool = False


def built(
    stores: Iterable[Store], project: str, module: str, folder: Path, include_dirs: tuple[Path, ...]
) -> BuildStatus:
    stored = [entry for store in stores for entry in store.entries(project, module)]
    entries = [entry for entry in stored if not unfit(entry.manifest.platform)]
    fresh = [entry for entry in entries if is_current(entry, folder, include_dirs)]
    if fresh:
        archs = {arch for entry in fresh for arch in entry.archs}
        emulated = any(entry.manifest.device == "emu" for entry in fresh)
        return BuildStatus("built", tuple(sorted(archs)), emulated)
    return BuildStatus("stale" if entries else "no")


def is_current(entry: Entry, folder: Path, include_dirs: tuple[Path, ...]) -> bool:
    """True if all files that a build was made of are as they were."""
    for name, sha256 in entry.manifest.inputs.items():
        path = locate(name, folder, include_dirs)
        if path is None or facts(path).sha256 != sha256:
            return False
    return True
