"""One step as a process that was there before it was needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fictl.paths import same_packages
from fictl.watch.answer import Answer
from fictl.watch.ending import end


@dataclass(frozen=True)
class Step:
    """`words` are those of a fictl command that answers with a document."""

    name: str
    words: Sequence[str]


class Child:
    """Python is started and imports what it needs; `begin` gives it something to do, once.

    Its stdin stays open while we are there: however we end, it ends then.
    """

    def __init__(self) -> None:
        # Why files: a pipe that nobody reads yet would hold it up.
        self._out, self._err = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "fictl.watch.standby"],
            stdin=subprocess.PIPE,
            stdout=self._out,
            stderr=self._err,
            env={**os.environ, **same_packages()},
            start_new_session=True,
        )
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._step, self._start = "", 0.0

    def begin(self, step: Step, folder: Path, ended: Callable[[], object]) -> None:
        """`ended` is called by another thread, unless it is stopped before."""
        self._step, self._start = step.name, time.monotonic()
        assert self._popen.stdin is not None
        with suppress(BrokenPipeError):  # It has died, which the wait for it tells.
            self._popen.stdin.write(json.dumps([str(folder), list(step.words)]).encode() + b"\n")
            self._popen.stdin.flush()
        self._thread = threading.Thread(target=self._wait, args=(ended,), daemon=True)
        self._thread.start()

    def answer(self) -> Answer:
        """Once it has ended."""
        code, seconds = self._popen.wait(), time.monotonic() - self._start
        out, err = _text(self._out), _text(self._err)
        self.stop()
        return Answer.read(self._step, code, seconds, out, err)

    def stop(self) -> None:
        """With all that it started; when this returns, it has gone."""
        self._stopped.set()
        if self._popen.poll() is None:
            end(self._popen)
        if self._thread is not None:
            self._thread.join()
        assert self._popen.stdin is not None
        with suppress(BrokenPipeError):
            self._popen.stdin.close()
        self._out.close()
        self._err.close()

    def _wait(self, ended: Callable[[], object]) -> None:
        self._popen.wait()
        if not self._stopped.is_set():
            ended()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
