"""Files that workloads name, for places that do not see the dataset's folder."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.farm.blobs import blob_of
from fictl.farm.line import Blob
from fictl.judge.fault import own_faults

if TYPE_CHECKING:
    from fictl.trace import Workload


class InputFiles:
    """Hashes each file once, unless it changes; threads of all places share it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[tuple[str, int, int], Blob] = {}
        self._lock = threading.Lock()

    def of(self, workload: Workload) -> tuple[dict[str, Blob], dict[str, Path]]:
        """Return the blobs by the workload's own paths, and the files by their hashes."""
        from fictl.trace.dataset.files import DatasetFiles

        files = DatasetFiles(self._root)
        named: dict[str, Blob] = {}
        paths: dict[str, Path] = {}
        for spec in workload.inputs.values():
            name = getattr(spec, "path", None)
            if name is not None and name not in named:
                path = files.blob(name)
                named[name] = self._blob(path)
                paths[named[name].sha256] = path
        return named, paths

    def _blob(self, path: Path) -> Blob:
        with own_faults("reading an input"):
            status = os.stat(path)
            key = str(path), status.st_size, status.st_mtime_ns
            with self._lock:  # A thousand places would read the same gigabytes at once.
                if key not in self._known:
                    self._known[key] = blob_of(path)
                return self._known[key]
