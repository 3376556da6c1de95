"""The files of another machine's dataset that workloads name, at the paths that they name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import PurePosixPath

from fictl.errors import FictlError, shown
from fictl.farm.blobs import BlobStore
from fictl.farm.line import Blob
from fictl.farm.own_folder import own_folder
from fictl.removal import remove


class DatasetFolder:
    """A folder of this process."""

    def __init__(self) -> None:
        self.root = own_folder("datasets")

    def fill(self, files: Mapping[str, Blob], blobs: BlobStore) -> None:
        """Link the blobs at their paths, which may not lead out."""
        for name, blob in files.items():
            parts = PurePosixPath(name).parts
            if not parts or parts[0] == "/" or ".." in parts or "\0" in name:
                raise FictlError(f"{shown(name)} is not a path in a dataset")
            path = self.root.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            os.link(blobs.path(blob), path)

    def close(self) -> None:
        remove(self.root)
