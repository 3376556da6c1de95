"""Catalogue of this project's ops, for `fictl list` and the docs, made without importing ops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fictl.arch import Arch
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


def catalogue(names: Sequence[str], archs: Sequence[Arch] = ()) -> list[CatalogueRow]:
    """List rows of the named ops, or of all; only ops that run on one of `archs`, if given."""
    at_hand = tuple(stores())
    return [row for folder in select(names) for row in _rows(folder, archs, at_hand)]


def _rows(
    folder: OpFolder, archs: Sequence[Arch], at_hand: Sequence[Store]
) -> Iterator[CatalogueRow]:
    status = _status(folder, at_hand)
    for declared in folder.declarations():
        if not archs or any(declared.archs.supports(arch) for arch in archs):
            yield _row(folder, declared, status)


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
