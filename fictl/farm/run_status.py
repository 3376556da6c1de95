"""The state of a run in a file, for `fictl farm status` of another terminal."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

from fictl.child.codec import Malformed, from_text
from fictl.child.family import member
from fictl.errors import FictlError
from fictl.farm.blobs import farm_folder
from fictl.farm.own_folder import is_abandoned, own_name
from fictl.paths import FARM, cache_root, matching, write_atomic
from fictl.user_file import read_text

_FOLDER, _SECONDS = "runs", 1.0
# A run of another machine that shares this cache is at work while its file is this young.
_YOUNG_SECONDS = 60.0


@dataclass(frozen=True)
class RunState:
    """`began` tells the process from a later one with its pid, on its machine."""

    what: str
    host: str
    pid: int
    began: str
    started: float
    done: int
    total: int
    busy: int
    places: int
    lost: int

    @property
    def rate(self) -> float:
        """Results per second."""
        return self.done / max(time.time() - self.started, 1e-3)

    @property
    def seconds_left(self) -> float | None:
        return (self.total - self.done) / self.rate if self.done else None


class RunStatus:
    """A context that writes the file at most once a second, and removes it at the end.

    A run goes on where the cache cannot be written.
    """

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._path: Path | None = None
        self._next = 0.0
        self._started = time.time()

    def __enter__(self) -> RunStatus:
        with suppress(OSError, FictlError):
            self._path = farm_folder(_FOLDER) / f"{own_name()}.json"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink()

    def update(self, done: int, busy: int, left: int, total: int) -> None:
        """Record counts: what is done, and places at work, left, and in all."""
        now = time.monotonic()
        if self._path is None or now < self._next:
            return
        self._next = now + _SECONDS
        this = member(os.getpid())
        began = this.began if this is not None else ""
        state = RunState(
            self._what,
            platform.node(),
            os.getpid(),
            began,
            self._started,
            done,
            self._total,
            busy,
            left,
            total - left,
        )
        with suppress(OSError):
            write_atomic(self._path, json.dumps(asdict(state)))


def runs() -> Iterator[RunState]:
    """Yield the runs of this user; files of those that were killed are removed."""
    for path in matching(cache_root().joinpath(*FARM, _FOLDER), "*.json"):
        try:
            state = from_text(RunState, read_text(path, largest=1 << 16))
        except (OSError, ValueError, Malformed):
            continue
        if _is_at_work(state, path):
            yield state
        elif state.host == platform.node() or is_abandoned(path):
            with suppress(OSError):
                path.unlink()


def _is_at_work(state: RunState, path: Path) -> bool:
    if state.host == platform.node():
        process = member(state.pid)
        return process is not None and process.began == state.began
    with suppress(OSError):
        return time.time() - path.stat().st_mtime < _YOUNG_SECONDS
    return False
