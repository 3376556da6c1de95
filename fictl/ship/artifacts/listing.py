"""The snapshots at a place: a folder of artifacts, or a repository by its index."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fictl.errors import UsageError
from fictl.jit.remote.mark import MARK
from fictl.jit.remote.url import open_bucket
from fictl.ship.artifacts.check import CheckedSnapshot, check_folder, check_url
from fictl.ship.artifacts.folder import ArtifactsFolder
from fictl.ship.artifacts.index import Indexed, require_index
from fictl.ship.artifacts.transfer import TransferObserver

_UNREAD = "read by pull and verify"


@dataclass(frozen=True)
class ListedSnapshot:
    """One snapshot. Its signature is judged in a folder only: an index has none."""

    name: str
    sha256: str
    created: str
    builds: int
    size: int
    signature: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def listed(place: str) -> list[ListedSnapshot]:
    """List what is at a path, a URL, or for '' in this machine's folder; the newest first."""
    there = _at(place)
    if isinstance(there, ArtifactsFolder):
        signed = [(one, Indexed.describe(one.snapshot)) for one in there.snapshots()]
        return [_row(entry, one.verdict().text) for one, entry in signed]
    return [_row(entry, _UNREAD) for entry in require_index(open_bucket(there))]


def check(place: str, observer: TransferObserver) -> list[CheckedSnapshot]:
    """Check the snapshots at a path, a URL, or for '' in this machine's folder."""
    there = _at(place)
    return check_folder(there) if isinstance(there, ArtifactsFolder) else check_url(there, observer)


def _at(place: str) -> ArtifactsFolder | str:
    """Return the folder of artifacts at a place, or the URL of a repository."""
    if not place:
        return ArtifactsFolder.at()
    if "://" in place:
        return place
    path = Path(place).expanduser().absolute()
    folder = ArtifactsFolder.at(path)
    if folder.exists:
        return folder
    if os.path.isfile(path / MARK):
        return path.as_uri()
    raise UsageError(
        f"{path} is neither a folder of artifacts nor a repository",
        "fictl artifacts build, pull, push or mirror makes one",
    )


def _row(entry: Indexed, signature: str) -> ListedSnapshot:
    return ListedSnapshot(
        entry.name, entry.sha256, entry.created, entry.builds, entry.size, signature
    )
