"""A look at a solution in a process of its own, by itself or under a tool that watches it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.errors import SetupError
from fictl.judge.process.scratch import scratch_folder
from fictl.judge.tools.first_error import FirstError, first_error
from fictl.judge.tools.subject import Subject
from fictl.paths import same_packages
from fictl.process import TimedOut, ending, run
from fictl.toolchain import require_gpu

PROGRAM = "fictl.judge.tools.child"
# A log is for reading: what is longer has its end.
_LONGEST_LOG = 64 << 10


@dataclass(frozen=True)
class Look:
    """`mode` is the child's: build or calls."""

    subject: Subject
    mode: str
    device: str
    timeout: float = 600.0
    calls: int = 1
    seed: int = 0

    @contextmanager
    def job(self) -> Iterator[tuple[Path, Path]]:
        """Files of the job and of its outcome."""
        with scratch_folder("look") as place:
            job, outcome = place / "job.json", place / "outcome.json"
            job.write_text(json.dumps(self._document()), encoding="utf-8")
            yield job, outcome

    def argv(self, job: Path, outcome: Path) -> list[str]:
        return [sys.executable, "-m", PROGRAM, str(job), str(outcome)]

    def environment(self) -> dict[str, str]:
        own = {} if self.device == "cpu" else {settings.DEVICE.name: self.device}
        return {
            **own,
            settings.LOGLEVEL.name: "0",
            settings.TRACE_DUMP.name: "0",
            **same_packages(),
        }

    def take(
        self, before: Sequence[str | Path] = (), variables: Mapping[str, str] | None = None
    ) -> Seen:
        """`before` stands before the program, as a tool that watches it does."""
        if self.device == "cuda":
            require_gpu("there is no GPU here", "--device emu runs it on the emulated device")
        environment = {**self.environment(), **(variables or {})}
        with self.job() as (job, outcome):
            try:
                done = run([*before, *self.argv(job, outcome)], environment, self.timeout)
            except TimedOut as error:
                return Seen("TIMEOUT", f"it did not end within {self.timeout:g} s", error.hint)
            if os.path.isfile(outcome):
                return self._seen(json.loads(outcome.read_text(encoding="utf-8")), done.output)
        died = f"it ended its process with {ending(done.code)}"
        return Seen("RUNTIME_ERROR", died, log=done.output[-_LONGEST_LOG:], output=done.output)

    def _seen(self, said: dict[str, Any], output: str) -> Seen:
        sources = [source.path for source in self.subject.solution.sources]
        message, log = said.get("message", ""), said.get("log", "")
        error = None
        if message:
            error = first_error((message, log, output), sources, message)
        return Seen(
            said["status"],
            message,
            said.get("hint", ""),
            error,
            log[-_LONGEST_LOG:],
            said.get("code", 0),
            said.get("rows", []),
            output,
            said.get("builder", ""),
            said.get("seconds", 0.0),
        )

    def _document(self) -> dict[str, Any]:
        subject = self.subject
        workload = subject.ready.model_dump(mode="json") if self.mode != "build" else None
        return {
            "mode": self.mode,
            "device": self.device,
            "definition": subject.definition.model_dump(mode="json"),
            "solution": subject.solution.model_dump(mode="json"),
            "workload": workload,
            "root": str(subject.root.resolve()) if subject.root else None,
            "calls": self.calls,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Seen:
    """`status` is built or called, or that of a failed evaluation; `code` an exit code of fictl's."""

    status: str
    message: str = ""
    hint: str = ""
    error: FirstError | None = None
    log: str = ""
    code: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)
    output: str = ""
    builder: str = ""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.status in ("built", "called")

    def failure(self) -> dict[str, Any]:
        """Of an answer: what went wrong; None three times where nothing did."""
        if self.ok:
            return {"message": None, "hint": None, "error": None, "log": ""}
        error = self.error or FirstError(self.message)
        return {
            "message": self.message,
            "hint": self.hint,
            "error": error.to_dict(),
            "log": self.log,
        }

    def refuse_machine(self) -> None:
        """What this machine lacks is no verdict on a solution."""
        if self.code == SetupError.exit_code:
            raise SetupError(self.message, self.hint)
