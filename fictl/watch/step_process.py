"""Process of one step, started before it is needed."""

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
from fictl.child.local_process import LocalProcess, python
from fictl.child.session import Gone, Session
from fictl.watch.answer import Answer


@dataclass(frozen=True)
class Step:
    """A step; `words` are a fictl command that answers with a document."""

    name: str
    words: Sequence[str]


@dataclass(frozen=True)
class StartCommand:
    """Request to run a fictl command in this folder, which may have been replaced since."""

    folder: Path
    words: tuple[str, ...]


class StepProcess:
    """A Python process with the imports done; `begin` gives it its only command."""

    def __init__(self) -> None:
        # Files, not pipes: a pipe that nobody reads yet would block the process.
        self._out, self._err = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115
        self._process = LocalProcess(python("-m", "fictl.watch.standby"), {}, self._out, self._err)
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._step, self._start = "", 0.0

    def begin(self, step: Step, folder: Path, ended: Callable[[], object]) -> None:
        """Start the step. Another thread calls `ended`, unless the step is stopped first."""
        self._step, self._start = step.name, time.monotonic()
        with suppress(Gone):  # The wait for it tells how it ended.
            Session(self._process, ()).send(StartCommand(folder, (*step.words,)))
        self._thread = threading.Thread(target=self._wait, args=(ended,), daemon=True)
        self._thread.start()

    def answer(self) -> Answer:
        """The answer of the ended step."""
        code, seconds = self._process.wait(), time.monotonic() - self._start
        out, err = _text(self._out), _text(self._err)
        self.stop()
        return Answer.read(self._step, code, seconds, out, err)

    def stop(self) -> None:
        """End the process and all its descendants; all are gone on return."""
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
