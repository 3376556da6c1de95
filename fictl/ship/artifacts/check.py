"""Checks of snapshots: signatures, every byte, and which builds this machine can load."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, UsageError
from fictl.jit.remote.document import Document
from fictl.ship.artifacts.fitting import unfit
from fictl.ship.artifacts.folder import ArtifactsFolder
from fictl.ship.artifacts.index import Indexed, require_index
from fictl.ship.artifacts.pull import pull
from fictl.ship.artifacts.signed import OWN, Signed
from fictl.ship.artifacts.transfer import Repositories, TransferObserver
from fictl.ship.verify import VerifiedBuild, verify
from fictl.trust.verdict import TRUSTED

ABSENT = "is not in the folder, or has other bytes"


@dataclass(frozen=True)
class CheckedBuild:
    """One build of a snapshot. `unfit` says why it is not for this machine; '' if it is.

    is_here: false for one that was not brought.
    """

    project: str
    module: str
    platform: str
    archs: tuple[str, ...]
    size: int
    unfit: str
    is_here: bool
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class CheckedSnapshot:
    """One snapshot: the verdict on its signature, its builds, and other problems."""

    name: str
    sha256: str
    created: str
    signature: str
    builds: tuple[CheckedBuild, ...]
    newer: int = 0
    problems: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        return not self.problems and not any(build.problems for build in self.builds)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def check_folder(folder: ArtifactsFolder) -> list[CheckedSnapshot]:
    """Check all snapshots of a folder of artifacts; asks nobody."""
    if not folder.exists:
        raise UsageError(
            f"{folder.root} is not a folder of artifacts", "fictl artifacts build or pull makes one"
        )
    verified = {build.path: build for build in verify(folder.root)}
    return [_checked(signed, folder, verified) for signed in folder.snapshots()]


def check_url(url: str, observer: TransferObserver) -> list[CheckedSnapshot]:
    """Check all snapshots of a bucket: each is pulled, whole, to a folder that is then removed."""
    repositories = Repositories.open([url])
    for closed, reason in repositories.closed:
        raise FictlError(f"{closed} cannot be checked: {reason}")
    (bucket,) = repositories.buckets
    return [one for entry in require_index(bucket) for one in _checked_there(entry, url, observer)]


def _checked_there(entry: Indexed, url: str, observer: TransferObserver) -> list[CheckedSnapshot]:
    """Check a snapshot of a bucket, in a folder that is removed again."""
    signature = ""
    with tempfile.TemporaryDirectory(prefix="fictl-verify-") as place:
        folder = ArtifactsFolder.at(Path(place, "artifacts"))
        try:
            brought = pull(entry.name, entry.sha256, [url], (), True, folder, observer)
            signature, error = brought.signed, brought.error
        except FictlError as caught:
            error = caught
        if error is None:
            return check_folder(folder)
    problems = (error.message,)
    return [
        CheckedSnapshot(entry.name, entry.sha256, entry.created, signature, (), problems=problems)
    ]


def require_good(snapshots: Sequence[CheckedSnapshot]) -> FictlError | None:
    """Return the error that says what is wrong; None if nothing is."""
    bad = [snapshot for snapshot in snapshots if not snapshot.is_good]
    if not bad:
        return None
    return FictlError(
        f"{len(bad)} of {len(snapshots)} snapshots cannot be used as they are",
        "fictl artifacts pull brings what is missing or damaged again; with --all, also what is "
        "for other machines",
    )


def _checked(
    signed: Signed, folder: ArtifactsFolder, verified: dict[str, VerifiedBuild]
) -> CheckedSnapshot:
    snapshot, verdict = signed.snapshot, signed.verdict()
    held = {document.name for document in folder.held(snapshot)}
    builds = tuple(
        _build(document, folder, verified, document.name in held) for document in snapshot.documents
    )
    problems = () if verdict.kind in (TRUSTED, OWN) else (verdict.text,)
    return CheckedSnapshot(
        snapshot.name,
        snapshot.sha256,
        snapshot.created,
        verdict.text,
        builds,
        snapshot.newer,
        problems,
    )


def _build(
    document: Document, folder: ArtifactsFolder, verified: dict[str, VerifiedBuild], is_held: bool
) -> CheckedBuild:
    """Check one build. What was not brought last need not be here, but is whole if it is; what is
    for others is not loaded.
    """
    reason, entry = unfit(document.manifest), folder.entry(document)
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    if entry is None:
        problems = (ABSENT,) if is_held or folder.is_damaged(document) else ()
    elif not reason and (result := verified.get(str(entry.path))):
        problems, notes = result.problems, result.notes
    it = document.manifest
    size = sum(stamp.size for stamp in it.files.values())
    is_here = entry is not None
    return CheckedBuild(
        it.project, it.module, it.platform, it.archs, size, reason, is_here, problems, notes
    )
