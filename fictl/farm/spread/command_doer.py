"""Commands at one place, as work of its station."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fictl.child.lost import Lost
from fictl.child.message import Failed
from fictl.errors import FictlError, SetupError, from_exit_code, shown
from fictl.farm.blobs import BlobStore
from fictl.farm.connection import Connection
from fictl.farm.line import Blob, CommandDone, Greeting, RunCommand
from fictl.farm.place import Place
from fictl.farm.spread.command_job import CommandJob, CommandResult
from fictl.farm.station import Stopped
from fictl.farm.task_queue import Task
from fictl.printable import printable_document
from fictl.process import ending

_MOST_SECONDS = 86400.0
_SAMPLE = ("config", "show")
_MISSING = SetupError.exit_code


@dataclass(frozen=True)
class Project:
    """The files that commands need: a packed tree, and the folder in it to run in."""

    packed: Path | None = None
    tree: Blob | None = None
    folder: str = "."
    variables: Mapping[str, str] = field(default_factory=dict)


class CommandDoer:
    """Runs jobs at a place. A job that the place cannot do is lost there, and done elsewhere."""

    def __init__(
        self,
        place: Place,
        greeting: Greeting,
        project: Project,
        to: Callable[[CommandResult], object],
        connection: Connection | None,
        note: Callable[[str], object],
    ) -> None:
        self._place, self._greeting, self._project, self._to = place, greeting, project, to
        self._connection, self._note = connection, note
        self._blobs = BlobStore.of_user()
        self._stopped = False

    def prepare(self, waits: Callable[[], object]) -> None:
        """Leave the GPU to the commands, which lock it themselves."""

    def do(self, task: Task[CommandJob]) -> None:
        job = task.work
        done = self._ask(job.argv, job.keeps)
        document = _document(done)
        error = _error(document, done.code)
        if error is not None and document.get("data") is None and done.code == _MISSING:
            raise Lost(f"{job.name} cannot be done there: {error.message}", error.hint)
        kept = {name: self._blobs.path(blob) for name, blob in done.kept.items()}
        data, hardware = document.get("data"), self._place.hardware
        self._to(CommandResult(job, self._place.name, data, done.code, error, kept, hardware))

    def blame(self, task: Task[CommandJob], lost: Lost) -> None:
        places = ", ".join(dict.fromkeys(task.losses))
        error = SetupError(f"{task.work.name}: {lost.message} (tried at {places})", lost.hint)
        self._to(CommandResult(task.work, self._place.name, None, error.exit_code, error))

    def why_unsound(self, task: Task[CommandJob]) -> str:
        try:
            done = self._ask(_SAMPLE, ())
        except Stopped:
            raise
        except FictlError as error:
            return error.message
        return "" if done.code == 0 else f"fictl {' '.join(_SAMPLE)} ends with {ending(done.code)}"

    def stop(self) -> None:
        self._stopped = True
        connection = self._connection
        if connection is not None:
            connection.interrupt()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.hang_up()
            self._end()

    def _ask(self, argv: tuple[str, ...], keeps: tuple[str, ...]) -> CommandDone:
        project = self._project
        request = RunCommand(argv, project.tree, project.folder, {**project.variables}, keeps)
        files = {project.tree.sha256: project.packed} if project.tree and project.packed else {}
        try:
            answer = self._started().ask(request, _MOST_SECONDS, files, self._blobs)
        except SetupError:
            self._end()
            if self._stopped:
                raise Stopped("the run was stopped") from None
            raise
        if isinstance(answer, Failed):
            raise Lost(answer.message, answer.hint)
        if not isinstance(answer, CommandDone):
            raise Lost(f"its answer is {type(answer).__name__}")
        return answer

    def _started(self) -> Connection:
        if self._stopped:
            raise Stopped("the run was stopped")
        if self._connection is not None and self._connection.has_ended:
            self._end()
        if self._connection is None:
            self._connection = Connection(self._place, self._note)
            if self._stopped:  # Meanwhile, when there was nothing to interrupt.
                raise Stopped("the run was stopped")
            self._connection.greet(self._greeting)
        return self._connection

    def _end(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.end()


def _document(done: CommandDone) -> dict[str, Any]:
    """Read what the command printed; without a whole document it was killed, or could not start."""
    try:
        document = printable_document(json.loads(done.document))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or not str(document.get("schema", "")).startswith("fictl."):
        last = done.words.strip().splitlines()
        reason = f": {shown(last[-1])}" if last else ""
        raise Lost(f"the command ended with {ending(done.code)}{reason}")
    return document


def _error(document: dict[str, Any], code: int) -> FictlError | None:
    error = document.get("error")
    if not isinstance(error, dict):
        return None
    message, hint, name = (str(error.get(key, "")) for key in ("message", "hint", "code"))
    return from_exit_code(code, message, hint, name)
