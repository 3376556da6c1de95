"""The judge's connection to a solution's process: a timeout, a crash or a forged reply is
a status.
"""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from fictl.errors import FictlError, SetupError
from fictl.judge.call_time import TimedTurn
from fictl.judge.fault import FAULT, NO_VERDICT, JudgeFault
from fictl.judge.judge_outcome import Decided
from fictl.judge.process.order_desk import NotBuilt
from fictl.judge.process.sandboxed_process import Forged, Hung, SandboxedProcess, Survey
from fictl.trace import Definition, EvaluationStatus, Solution

Turns = Callable[[float], dict[str, Any]]
Said = TypeVar("Said")

_WITHHELD = "def run(*inputs):\n    raise PermissionError('the reference stays with the judge')\n"
_FAILED = EvaluationStatus.RUNTIME_ERROR
_HACK = EvaluationStatus.REWARD_HACK
_DEFAULT_TIME = 600.0


@dataclass
class SolutionProcess:
    """A sandboxed process that builds and runs one solution.

    `deadline` is on the monotonic clock; `partner` is the process of the reference it has turns
    with. One that `is_trusted` contains no solution, so its reports about the machine are believed.
    """

    sandboxed: SandboxedProcess
    folder: Path
    deadline: float = field(default_factory=lambda: time.monotonic() + _DEFAULT_TIME)
    is_spent: bool = False
    partner: SandboxedProcess | None = None
    is_trusted: bool = False
    name: str = field(default_factory=lambda: secrets.token_hex(4))
    _signals: dict[str, int] = field(default_factory=dict)
    _libraries: dict[str, str] = field(default_factory=dict)

    def build(self, definition: Definition, solution: Solution | None, device: str) -> None:
        """Send the definition and the solution. The reference is withheld, unless it is itself the
        solution.
        """
        withheld = {"reference": _WITHHELD, "init": None, "custom_inputs_entrypoint": None}
        shown = definition.model_copy(update=withheld) if solution else definition
        self.ask({"op": "greet"})  # The process runs, and the solution is not loaded yet.
        self._signals = self._surveyed().signals
        answer = self._answer(
            {
                "op": "build",
                "definition": shown.model_dump(mode="json"),
                "device": device,
                "solution": solution.model_dump(mode="json") if solution else None,
            },
            "it was still being built",
        )
        if answer.get("ok"):
            return
        self.is_spent = True
        if answer.get("kind") != "build":
            raise Decided(EvaluationStatus.COMPILE_ERROR, _text(answer, "trace"))
        first, whole = _text(answer, "first"), _text(answer, "trace")
        note = whole if first in whole else f"{first}\n{whole}"
        raise Decided(EvaluationStatus.COMPILE_ERROR, note, _text(answer, "log"))

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to `request`; raise Decided if it reports a failure."""
        return self._judge(self._answer(request, "it was still running"))

    def _judge(self, answer: dict[str, Any]) -> dict[str, Any]:
        if answer.get("ok"):
            self._decide(answer)
            return answer
        self.is_spent = True
        if answer.get("kind") == FAULT:
            raise JudgeFault(
                "the judge's own code in a solution's process failed", _text(answer, "trace")
            )
        if answer.get("kind") == "setup" and self.is_trusted:
            raise SetupError(_text(answer, "trace"), _text(answer, "hint"))
        raise Decided(_FAILED, _text(answer, "trace"))

    def turns(self, take: Turns, size: int, mode: str) -> dict[str, Any]:
        """Have turns with the referee and return its record; a call writes `size` bytes.

        `take(seconds)` asks the referee. Time that the referee needs for itself is not counted.
        """
        token = self._guarded(
            lambda: self.sandboxed.tell({"op": "turns", "mode": mode, "bytes": size}, self.deadline)
        )
        start = time.monotonic()
        try:
            batch = take(max(0.01, self.deadline - start))
        except BaseException:
            self.is_spent = True  # The process still waits for a turn.
            raise
        self.deadline += time.monotonic() - start - float(batch["spent"])
        if batch["outcome"] == "hung":
            raise self._late("it was still running")
        if batch["outcome"] == "forged":
            raise self._forged(str(batch["note"]))
        self._judge(self._guarded(lambda: self.sandboxed.answer(token, self.deadline)))
        if batch["outcome"] != "done":
            raise self._forged("the turns were ended by the solution's process")
        return batch

    def settle(self) -> None:
        """Ask the process, between turns, for traces of tampering and for signal handlers."""
        answer = self.ask({"op": "settle"})
        libraries = answer.get("handlers")
        if isinstance(libraries, dict):
            self._libraries = {str(number): str(file) for number, file in libraries.items()}

    def extend(self, seconds: float = _DEFAULT_TIME) -> None:
        """Set the deadline to `seconds` from now."""
        self.deadline = time.monotonic() + seconds

    def timed(self, turns: Iterable[dict[str, Any]]) -> list[TimedTurn]:
        """Combine the turns that the referee recorded with the process's claims."""
        return [
            TimedTurn(float(one["span"]), float(one["waited"]), *self._claim(one["claim"]))
            for one in turns
        ]

    def _claim(self, claim: Any) -> tuple[float, float]:
        """Seconds of a call and of its host part; raises Decided if they are not numbers."""
        if not isinstance(claim, dict):
            return 0.0, 0.0
        return self._seconds(claim.get("seconds")), self._seconds(claim.get("host"))

    def _seconds(self, value: Any) -> float:
        if isinstance(value, int | float) and 0 <= value < float("inf"):
            return float(value)
        raise self._forged(f"{value!r:.60} is claimed as the seconds of a call")

    def _decide(self, answer: dict[str, Any]) -> None:
        """Raise Decided for what the process reports about itself."""
        findings = answer.get("findings", ())
        for finding in findings if isinstance(findings, list) else ():
            if isinstance(finding, list) and len(finding) == 2:
                status, note = (str(part)[:1000] for part in finding)
                self.is_spent = self.is_spent or status == _HACK.value
                raise Decided(_status(status), note)

    def survey(self) -> None:
        """Check from outside, after the last run, that no process and no signal handler is left."""
        seen = self._surveyed()
        if seen.left:
            self.is_spent = True
            raise Decided(_HACK, f"it left a process running: {', '.join(seen.left[:8])}")
        for what, bits in seen.signals.items():
            others = bits ^ self._signals.get(what, bits)
            changed = [n for n in range(1, signal.NSIG) if others >> (n - 1) & 1]
            # A compiler called in the process may catch signals that Python ignores.
            own = [n for n in changed if what == "blocks" or not self._is_of_a_library(n)]
            if own:
                self.is_spent = True
                raise Decided(_HACK, f"it changed whether it {what} the signal {_name(own[0])}")

    def _is_of_a_library(self, number: int) -> bool:
        """Tell whether an installed library set the handler: a solution is not blamed for it."""
        file = Path(self._libraries.get(str(number), "") or self.folder)
        return os.path.isfile(file) and not file.resolve().is_relative_to(self.folder.resolve())

    def _surveyed(self) -> Survey:
        seen = self.sandboxed.survey()
        if seen is None:
            self.is_spent = True
            raise JudgeFault("the supervisor of a sandboxed process has ended", NO_VERDICT)
        return seen

    def close(self) -> None:
        self.sandboxed.close()

    def _answer(self, request: dict[str, Any], doing: str) -> dict[str, Any]:
        seconds = max(0.01, self.deadline - time.monotonic())
        return self._guarded(lambda: self.sandboxed.ask(request, seconds), doing)

    def _guarded(self, step: Callable[[], Said], doing: str = "it was still running") -> Said:
        try:
            return step()
        except Hung:
            raise self._late(doing) from None
        except Forged as error:
            raise self._forged(error.message) from None
        except (JudgeFault, NotBuilt):
            self.is_spent = True
            raise
        except FictlError as error:
            self.is_spent = True
            raise Decided(_FAILED, error.message) from None

    def _late(self, doing: str) -> Decided:
        self.is_spent = True
        return Decided(EvaluationStatus.TIMEOUT, f"{doing} when its time was up")

    def _forged(self, why: str) -> Decided:
        self.is_spent = True
        return Decided(_HACK, f"the solution's process sent a forged reply: {why}")


def _text(answer: dict[str, Any], name: str) -> str:
    return str(answer.get(name, "")).strip()


def _status(name: str) -> EvaluationStatus:
    try:
        return EvaluationStatus(name)
    except ValueError:
        return _HACK


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
