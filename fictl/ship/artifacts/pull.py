"""Pulling: what a snapshot has for this machine, from the first mirror that has each file."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.arch import Arch
from fictl.errors import FictlError, SetupError
from fictl.jit.remote.document import Document
from fictl.quantity import counted, spell_size
from fictl.ship.artifacts.fitting import chosen
from fictl.ship.artifacts.folder import ArtifactsFolder
from fictl.ship.artifacts.locate import Located, locate
from fictl.ship.artifacts.snapshot import Snapshot
from fictl.ship.artifacts.transfer import NowhereError, Repositories, TransferObserver, each_of

_SHOWN = 5


@dataclass(frozen=True)
class Missing:
    """A build of which a file is nowhere, and why."""

    document: Document
    error: NowhereError

    @property
    def module(self) -> str:
        return _module(self.document)

    def to_dict(self) -> dict[str, Any]:
        reasons = [{"url": url, "reason": reason} for url, reason in self.error.reasons]
        return {"module": self.module, "recipe": self.document.manifest.recipe, "reasons": reasons}


@dataclass(frozen=True)
class Pulled:
    """The snapshot, and how many of its builds were brought, were there, or are for others."""

    snapshot: Snapshot
    folder: Path
    url: str
    signed: str
    brought: int
    present: int
    others: int
    size: int
    seconds: float
    missing: tuple[Missing, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "snapshot": self.snapshot.name,
            "sha256": self.snapshot.sha256,
            "created": self.snapshot.created,
            "folder": str(self.folder),
            "url": self.url or None,
            "signed": self.signed,
            "brought": self.brought,
            "present": self.present,
            "others": self.others,
            "size": self.size,
            "seconds": round(self.seconds, 3),
            "missing": [one.to_dict() for one in self.missing],
        }

    @property
    def error(self) -> FictlError | None:
        if not self.missing:
            return None
        names = ", ".join(one.module for one in self.missing[:_SHOWN])
        more = len(self.missing) - _SHOWN
        return FictlError(
            f"{counted(len(self.missing), 'build')} of {self.snapshot.name} could not be brought: "
            f"{names}{f' and {more} more' if more > 0 else ''}; {self.missing[0].error.message}",
            "the other builds are here and need not be brought again; name one more mirror",
        )


def pull(
    name: str,
    sha256: str,
    urls: Sequence[str],
    archs: tuple[Arch, ...],
    everything: bool,
    folder: ArtifactsFolder,
    observer: TransferObserver,
    dry_run: bool = False,
) -> Pulled:
    """Bring a snapshot's builds. What is here already, whole, is not asked for again.

    The snapshot itself is written last: one that is in the folder has all builds for this machine.
    A dry run ends with what would be brought.
    """
    begin = time.monotonic()
    repositories = Repositories.open(urls)
    _refuse_absent(name, sha256, repositories, folder)
    located = locate(name, sha256, repositories, folder, observer.note)
    snapshot = located.signed.snapshot
    wanted = chosen(snapshot.documents, archs, everything)
    absent = [document for document in wanted if folder.entry(document) is None]
    missing: tuple[Missing, ...] = ()
    if absent:
        _refuse_downloads(snapshot, absent, repositories, folder)
    if absent and not dry_run:
        folder.make()
        missing = _bring(absent, located, repositories, folder, observer)
    if not missing and not dry_run:
        folder.make()
        folder.save(located.signed, archs, everything)
    gone = {one.document.name for one in missing}
    brought = [document for document in absent if document.name not in gone]
    return Pulled(
        snapshot,
        folder.root,
        located.url,
        located.verdict.text,
        len(brought),
        len(wanted) - len(absent),
        len(snapshot.documents) + snapshot.newer - len(wanted),
        sum(map(_size, brought)),
        time.monotonic() - begin,
        missing,
    )


def _bring(
    absent: Sequence[Document],
    located: Located,
    repositories: Repositories,
    folder: ArtifactsFolder,
    observer: TransferObserver,
) -> tuple[Missing, ...]:
    size = sum(map(_size, absent))
    _require_space(folder.root, size)
    verdict = located.verdict
    url = located.url or folder.root.as_uri()
    origin = {"url": url, "key": verdict.name, "key_id": verdict.key_id}
    files = sum(len(document.manifest.files) for document in absent)
    where = " ".join(bucket.url for bucket in repositories.buckets)
    observer.planned(f"pulling {located.signed.snapshot.name} from {where}", files, size)

    def bring(document: Document) -> Missing | None:
        try:
            folder.put(document, origin, partial(_fill, document, repositories, observer))
        except NowhereError as error:
            return Missing(document, error)
        return None

    return tuple(one for one in each_of(absent, bring) if one is not None)


def _fill(
    document: Document,
    repositories: Repositories,
    observer: TransferObserver,
    name: str,
    target: Path,
) -> None:
    stamp = document.manifest.files[name]
    repositories.fetch(stamp.sha256, stamp.size, target)
    observer.moved(stamp.size)


def _refuse_absent(
    name: str, sha256: str, repositories: Repositories, folder: ArtifactsFolder
) -> None:
    """Say what no download means, where the snapshot is not even here."""
    if not _forbidden(repositories) or folder.newest(name, sha256):
        return
    full = f"{name}@{sha256}" if sha256 else name
    raise SetupError(
        f"{folder.root} has no snapshot {full}, and {settings.NO_DOWNLOAD.name} forbids to ask "
        f"{repositories.closed[0][0]}",
        _carry(repositories, full),
    )


def _refuse_downloads(
    snapshot: Snapshot,
    absent: Sequence[Document],
    repositories: Repositories,
    folder: ArtifactsFolder,
) -> None:
    if not _forbidden(repositories):
        return
    names = [*map(_module, absent)]
    listed = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    raise SetupError(
        f"{counted(len(absent), 'build')} of {snapshot.name} {'is' if len(absent) == 1 else 'are'} "
        f"not in {folder.root}: {listed}; {settings.NO_DOWNLOAD.name} forbids to ask "
        f"{repositories.closed[0][0]}",
        _carry(repositories, f"{snapshot.name}@{snapshot.sha256}"),
    )


def _forbidden(repositories: Repositories) -> bool:
    return settings.NO_DOWNLOAD.get() and bool(repositories.closed) and not repositories.buckets


def _carry(repositories: Repositories, full: str) -> str:
    return (
        f"on a machine with a network: fictl artifacts mirror {repositories.closed[0][0]} "
        f"file:///media/disk {full}; here: fictl artifacts pull {full} --from file:///media/disk"
    )


def _require_space(root: Path, size: int) -> None:
    there = root
    while not os.path.isdir(there):
        there = there.parent
    free = shutil.disk_usage(there).free
    if size > free:
        raise SetupError(
            f"{root} has room for {spell_size(free)}, and {spell_size(size)} are to be brought",
            f"make space there, or set {settings.ARTIFACTS_DIR.name} to a folder with room",
        )


def _size(document: Document) -> int:
    return sum(stamp.size for stamp in document.manifest.files.values())


def _module(document: Document) -> str:
    return f"{document.manifest.project}/{document.manifest.module}"
