"""The process of one slot, from this end: its start, its greeting, its requests and its end."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from fictl.child.last_lines import LastLines
from fictl.child.local_process import LocalProcess, python
from fictl.child.lost import Lost, NotStarted, not_started
from fictl.child.message import Failed, of_kind
from fictl.child.session import Gone, Late, Session
from fictl.dataset.messages import PROTOCOL, Evaluated, Greeting, JudgeFailed, Ready
from fictl.errors import shown
from fictl.version import VERSION

_START_SECONDS = 120.0
_MOST_STRANGE_LINES = 200  # A shell of another machine may greet its user first.
_ANSWERS = (Evaluated, JudgeFailed, Failed)


def worker_command() -> tuple[str, ...]:
    return python("-m", "fictl.dataset.worker")


class WorkerProcess:
    """A process, which must be greeted before it is given work. NotStarted: none came up."""

    def __init__(self, argv: Sequence[str], variables: Mapping[str, str]) -> None:
        self._how_it_ended = ""
        self._last = LastLines()
        try:
            self._process = LocalProcess(argv, variables, err=self._last.end)
        except FileNotFoundError as error:
            raise not_started("exit code 127", f"there is no {error.filename}") from None
        except PermissionError as error:
            raise not_started("exit code 126", f"{error.filename} is not a program") from None
        finally:
            self._last.end.close()
        self._session = Session(self._process, _ANSWERS)

    def greet(self, device: str) -> Ready:
        """Read lines until the process says that it is ready; refuse one that does not fit."""
        strange: list[str] = []
        deadline = time.monotonic() + _START_SECONDS
        with suppress(Gone):
            self._session.send(Greeting(device))
        while len(strange) < _MOST_STRANGE_LINES:
            line = self._process.next_line(deadline)
            if not line:
                how = self.end() if line == "" else f"not ready within {_START_SECONDS:g} s"
                self.end()
                raise not_started(how, self._last.text() or "\n".join(strange))
            ready = _ready_in(line)
            if ready is not None:
                self._last.pass_on()
                return _fitting(ready, device)
            strange.append(shown(line))
        raise not_started("it is not a worker of fictl", strange[-1])

    @property
    def has_ended(self) -> bool:
        return self._process.has_ended

    def send(self, message: object) -> None:
        try:
            self._session.send(message)
        except Gone:
            raise self._lost() from None

    def ask(self, message: object, seconds: float) -> Any:
        """Return the answer; raise Lost if none comes. An unreadable one raises ValueError."""
        try:
            return self._session.ask(message, seconds)
        except Late:
            self.end()
            raise Lost(f"its process did not answer within {seconds:g} s") from None
        except Gone:
            raise self._lost() from None

    def interrupt(self) -> None:
        self._process.terminate()

    def hang_up(self) -> None:
        self._process.hang_up()

    def end(self) -> str:
        """End the process and all its descendants; return how it ended."""
        self._how_it_ended = self._how_it_ended or self._process.close()
        return self._how_it_ended

    def _lost(self) -> Lost:
        return Lost(f"its process ended with {self.end()}")


def _ready_in(line: str) -> Ready | None:
    try:
        message = of_kind({Ready.__name__: Ready}, json.loads(line))
    except ValueError:
        return None
    return message if isinstance(message, Ready) else None


def _fitting(ready: Ready, device: str) -> Ready:
    """Refuse a process of another fictl, and one that needs a GPU and sees none."""
    if (ready.protocol, ready.fictl) != (PROTOCOL, VERSION):
        raise NotStarted(
            f"fictl {shown(ready.fictl)} runs there (Python {shown(ready.python)}), "
            f"and this is fictl {VERSION}",
            "install the same version there",
        )
    if device == "cuda" and not ready.hardware:
        raise NotStarted("its process sees no GPU", "fictl doctor, run there, says why")
    return ready
