"""Freezing: the builds of ops, copied to the folder of artifacts as one snapshot."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fictl.arch import Arch
from fictl.builds import building
from fictl.builds.building import BuiltModule, joined
from fictl.errors import UsageError
from fictl.jit.emulation import build_runtime
from fictl.jit.progress import BuildObserver
from fictl.jit.remote.document import Document, document_of
from fictl.jit.remote.provenance import source_of
from fictl.jit.store.entry import Corrupt, Entry, sha256
from fictl.jit.store.shareable import unshareable
from fictl.jit.store.use import keeping
from fictl.project import Project
from fictl.ship.aot import refuse_unshared_variant
from fictl.ship.artifacts.folder import ArtifactsFolder, is_same
from fictl.ship.artifacts.names import checked_name
from fictl.ship.artifacts.signed import Signed
from fictl.ship.artifacts.snapshot import Snapshot, make_snapshot
from fictl.trust.secret_key import signing_key
from fictl.version import describe


@dataclass(frozen=True)
class Frozen:
    """The result for each module, and the snapshot; None if a module failed.

    again: the folder had a snapshot of this name with exactly these builds.
    """

    folder: Path
    built: tuple[BuiltModule, ...]
    signed: Signed | None = None
    again: bool = False

    def to_dict(self) -> dict[str, Any]:
        snapshot = self.signed.snapshot if self.signed else None
        return {
            "folder": str(self.folder),
            "modules": [module.to_dict() for module in self.built],
            "snapshot": snapshot.name if snapshot else None,
            "sha256": snapshot.sha256 if snapshot else None,
            "size": snapshot.size if snapshot else 0,
            "signed": bool(self.signed and self.signed.signature),
            "again": self.again,
        }


def freeze(
    name: str,
    ops: Sequence[str],
    archs: tuple[Arch, ...],
    folder: ArtifactsFolder,
    observer: BuildObserver,
    elsewhere: Callable[[], Sequence[BuiltModule]] = tuple,
) -> Frozen:
    """Build in the cache, then copy all builds to the folder and write the snapshot last.

    A module that fails leaves the folder as it was.
    elsewhere: fills the cache with builds of other machines; those of other compilers come along.
    """
    checked_name(name)
    refuse_unshared_variant()
    others = elsewhere()
    built = tuple(joined(building.build(ops, archs, observer, exact=True), others))
    if not built or any(module.error for module in built):
        return Frozen(folder.root, built)
    entries = [Entry.read(Path(module.path)) for module in built]
    if any(entry.manifest.device == "emu" for entry in entries):
        entries.append(build_runtime(observer))
    roots = {project.name: project.root for project in Project.all()}
    documents = [_document(entry, roots) for entry in entries]
    folder.make()
    for entry, document in zip(entries, documents, strict=True):
        _copy(entry, document, folder)
    signed, again = _write(name, documents, folder)
    return Frozen(folder.root, built, signed, again)


def _document(entry: Entry, roots: Mapping[str, Path]) -> Document:
    manifest = entry.manifest
    reason = unshareable(entry)
    if reason:
        raise UsageError(
            f"{manifest.module} cannot be in a snapshot: {reason}",
            "unset what asks for this variant, and build again",
        )
    root = roots.get(manifest.project)
    return document_of(manifest, source_of(root) if root else {}, describe())


def _copy(entry: Entry, document: Document, folder: ArtifactsFolder) -> None:
    if folder.entry(document) is None:
        with keeping(entry.path):
            folder.put(document, {}, partial(_fill, entry))


def _fill(entry: Entry, name: str, target: Path) -> None:
    shutil.copyfile(entry.path / name, target)
    if sha256(target) != entry.manifest.files[name].sha256:
        raise Corrupt(f"{entry.path / name} has other bytes than were published")


def _write(name: str, documents: list[Document], folder: ArtifactsFolder) -> tuple[Signed, bool]:
    """Write the snapshot, signed if there is a key; keep the newest one if it has the same builds."""
    before, key = folder.newest(name), signing_key()
    fresh = make_snapshot(name, documents, time.time())
    again = before is not None and _are_same(before.snapshot, fresh)
    signed = before if before is not None and again else Signed(fresh)
    if key and not signed.signature:
        signed = signed.signed_with(key)
    if signed != before:
        folder.save(signed)
    return signed, again


def _are_same(before: Snapshot, fresh: Snapshot) -> bool:
    return len(before.documents) == len(fresh.documents) and all(
        is_same(one.manifest, other.manifest)
        for one, other in zip(before.documents, fresh.documents, strict=True)
    )
