"""Catalogue of this project's ops, for `fictl list` and the docs, made without importing ops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fictl.arch import Arch
from fictl.errors import UsageError
from fictl.jit.status import BuildStatus, built
from fictl.jit.store.stores import Store, stores
from fictl.project import Declaration, OpFolder, select


@dataclass(frozen=True)
class CatalogueRow:
    """One public function of an op."""

    project: str
    family: str
    module: str
    function: str
    doc: str
    dtypes: tuple[str, ...]
    archs: str
    devices: tuple[str, ...]
    built: str
    built_archs: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Wanted:
    """Conditions on what is listed: runs on one of `archs`, is of `family`, has all `words` in its names or description."""

    archs: Sequence[Arch] = ()
    family: str = ""
    words: Sequence[str] = ()

    def folders(self, folders: Sequence[OpFolder]) -> Sequence[OpFolder]:
        if not self.family:
            return folders
        families = {folder.family: None for folder in folders}
        if self.family not in families:
            raise UsageError(f"there is no family {self.family!r}", f"one of {', '.join(families)}")
        return [folder for folder in folders if folder.family == self.family]

    def takes(self, folder: OpFolder, declared: Declaration) -> bool:
        text = f"{folder.family} {folder.module} {declared.name} {declared.doc}".lower()
        return all(word.lower() in text for word in self.words) and (
            not self.archs or any(declared.archs.supports(arch) for arch in self.archs)
        )


def catalogue(names: Sequence[str], wanted: Wanted = Wanted()) -> list[CatalogueRow]:
    """List rows of the named ops, or of all, that are wanted."""
    at_hand = tuple(stores())
    chosen = wanted.folders(select(names))
    return [row for folder in chosen for row in _rows(folder, wanted, at_hand)]


def _rows(folder: OpFolder, wanted: Wanted, at_hand: Sequence[Store]) -> Iterator[CatalogueRow]:
    taken = [one for one in folder.declarations() if wanted.takes(folder, one)]
    if taken:
        status = _status(folder, at_hand)
        yield from (_row(folder, declared, status) for declared in taken)


def _status(folder: OpFolder, at_hand: Sequence[Store]) -> BuildStatus:
    if folder.is_composed:
        return BuildStatus("of others")
    project = folder.project
    return built(at_hand, project.name, folder.key, folder.path, project.include_dirs)


def _row(folder: OpFolder, declared: Declaration, status: BuildStatus) -> CatalogueRow:
    return CatalogueRow(
        folder.project.name,
        folder.family,
        folder.module,
        declared.name,
        declared.doc,
        tuple(dtype.short for dtype in declared.dtypes),
        str(declared.archs),
        declared.devices,
        status.state,
        (*map(str, status.archs), *(["emu"] if status.emulated else [])),
    )
