"""Runs a solution in a process of its own, alone or under a tool that observes it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl.child.environment import unwatched
from fictl.child.program import Program
from fictl.errors import SetupError
from fictl.judge.process.scratch import scratch_folder
from fictl.judge.tools.first_error import FirstError, first_error
from fictl.judge.tools.messages import LookAnswer, LookRequest
from fictl.judge.tools.subject import SolutionSubject
from fictl.process import TimedOut, ending
from fictl.toolchain import require_gpu

if TYPE_CHECKING:
    from fictl.trace import Definition, Solution, Workload

PROGRAM = "fictl.judge.tools.child"
# Size limit of a log for people: of a longer one, the end is shown.
_LONGEST_LOG = 64 << 10


@dataclass(frozen=True)
class Look:
    """A run to make. `mode` is the child's: build or calls."""

    subject: SolutionSubject
    mode: str
    device: str
    timeout: float = 600.0
    calls: int = 1
    seed: int = 0

    @property
    def program(self) -> Program:
        own = "" if self.device == "cpu" else self.device
        return Program(PROGRAM, self._request(), unwatched(own))

    def take(
        self, before: Sequence[str | Path] = (), variables: Mapping[str, str] | None = None
    ) -> LookResult:
        """Run the child; `before` is the tool's command line, which precedes it."""
        if self.device == "cuda":
            require_gpu("there is no GPU here", "--device emu runs it on the emulated device")
        with scratch_folder("look") as folder:
            program = self.program.under(before, variables or {}).filed(folder)
            try:
                finished = program.run(self.timeout)
            except TimedOut as error:
                return LookResult(
                    "TIMEOUT", f"it did not end within {self.timeout:g} s", error.hint
                )
            answer = program.answer(LookAnswer)
        if answer is not None:
            return self._seen(answer, finished.output)
        died = f"it ended its process with {ending(finished.code)}"
        output = finished.output
        return LookResult("RUNTIME_ERROR", died, log=output[-_LONGEST_LOG:], output=output)

    def _seen(self, answer: LookAnswer, output: str) -> LookResult:
        sources = [source.path for source in self.subject.solution.sources]
        message, log = answer.message, answer.log
        error = None
        if message:
            error = first_error((message, log, output), sources, message)
        return LookResult(
            answer.status,
            message,
            answer.hint,
            error,
            log[-_LONGEST_LOG:],
            answer.code,
            [*answer.rows],
            output,
            answer.builder,
            answer.seconds,
        )

    def _request(self) -> LookRequest:
        subject = self.subject
        return LookRequest(
            self.mode,
            self.device,
            _text(subject.definition),
            _text(subject.solution),
            _text(subject.ready) if self.mode != "build" else None,
            subject.root.resolve() if subject.root else None,
            self.calls,
            self.seed,
        )


def _text(document: Definition | Solution | Workload) -> str:
    """JSON of a document; model_dump_json writes infinity as null."""
    return json.dumps(document.model_dump(mode="json"))


@dataclass(frozen=True)
class LookResult:
    """Outcome of a run: `status` is built, called or a failure; `code` an exit code of fictl."""

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
        """Fields of an answer about the failure; all None if there was none."""
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
        """Raise SetupError if the machine, not the solution, is the cause."""
        if self.code == SetupError.exit_code:
            raise SetupError(self.message, self.hint)
