"""Files of lines by their names: a run asks for those of thousands of definitions."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# A folder that changed so shortly before it was read may change again and keep its time.
_YOUNG_NS = 2 * 10**9


@dataclass(frozen=True)
class _State:
    """`changed`: the times of all folders, as they were before they were read."""

    paths: Mapping[str, list[Path]]
    changed: Mapping[str, int]
    is_settled: bool


class Listing:
    """Files with this suffix below a folder, without hidden ones; read again after a change."""

    def __init__(self, folder: Path, suffix: str) -> None:
        self._folder, self._suffix = folder, suffix
        self._state = _State({}, {}, is_settled=False)

    def with_stems(self, stems: Iterable[str]) -> list[Path]:
        """Return the files that have one of these names, sorted."""
        state = self._state
        if not state.is_settled or any(
            _changed(path) != time for path, time in state.changed.items()
        ):
            state = self._state = self._read()
        return sorted(path for stem in stems for path in state.paths.get(stem, ()))

    def _read(self) -> _State:
        paths: dict[str, list[Path]] = defaultdict(list)
        changed: dict[str, int] = {}
        latest = time.time_ns() - _YOUNG_NS
        pending = [str(self._folder)]
        while pending:
            folder = pending.pop()
            changed[folder] = _changed(folder)
            with suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif entry.name.endswith(self._suffix) and not os.path.isdir(entry.path):
                        path = Path(entry.path)
                        paths[path.stem].append(path)
        return _State(paths, changed, max(changed.values()) < latest)


def _changed(folder: str) -> int:
    """The time of the last change of a folder's entries; 0 where there is no folder."""
    with suppress(OSError):
        return os.stat(folder).st_mtime_ns
    return 0
