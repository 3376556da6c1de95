"""One step as a process that was there before it was needed."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fictl.child.family import PATIENCE_SECONDS
from fictl.child.local_process import LocalProcess
from fictl.child.session import Gone, Session
from fictl.watch.answer import Answer


@dataclass(frozen=True)
class Step:
    """`words` are those of a fictl command that answers with a document."""

    name: str
    words: Sequence[str]


@dataclass(frozen=True)
class StartCommand:
    """Run a fictl command in this folder, which may be another one of that name by now."""

    folder: Path
    words: tuple[str, ...]


class StepProcess:
    """Python is started and imports what it needs; `begin` gives it something to do, once."""

    def __init__(self) -> None:
        # Why files: a pipe that nobody reads yet would hold it up.
        self._out, self._err = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115
        self._process = LocalProcess(("-m", "fictl.watch.standby"), {}, self._out, self._err)
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._step, self._start = "", 0.0

    def begin(self, step: Step, folder: Path, ended: Callable[[], object]) -> None:
        """`ended` is called by another thread, unless it is stopped before."""
        self._step, self._start = step.name, time.monotonic()
        with suppress(Gone):  # The wait for it tells how it ended.
            Session(self._process, ()).send(StartCommand(folder, (*step.words,)))
        self._thread = threading.Thread(target=self._wait, args=(ended,), daemon=True)
        self._thread.start()

    def answer(self) -> Answer:
        """Its answer, once it has ended."""
        code, seconds = self._process.wait(), time.monotonic() - self._start
        out, err = _text(self._out), _text(self._err)
        self.stop()
        return Answer.read(self._step, code, seconds, out, err)

    def stop(self) -> None:
        """End it with all that it started; when this returns, it has gone."""
        self._stopped.set()
        self._process.close(PATIENCE_SECONDS)
        if self._thread is not None:
            self._thread.join()
        self._out.close()
        self._err.close()

    def _wait(self, ended: Callable[[], object]) -> None:
        self._process.wait()
        if not self._stopped.is_set():
            ended()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
