"""The judge's talk with the solution's process: what its silence, its end and its lies mean."""

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
    """`deadline` is on the monotonic clock; `partner` the referee's process that has its turns.

    What is said of the machine is believed of one that `is_trusted`: no solution is in it.
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
        """Nothing of the reference goes along, but where it is what is to be called."""
        withheld = {"reference": _WITHHELD, "init": None, "custom_inputs_entrypoint": None}
        shown = definition.model_copy(update=withheld) if solution else definition
        self.ask({"op": "greet"})  # It is there, and nothing of the solution's is.
        self._signals = self._surveyed().signals
        said = self._answer(
            {
                "op": "build",
                "definition": shown.model_dump(mode="json"),
                "device": device,
                "solution": solution.model_dump(mode="json") if solution else None,
            },
            "it was still being built",
        )
        if said.get("ok"):
            return
        self.is_spent = True
        if said.get("kind") != "build":
            raise Decided(EvaluationStatus.COMPILE_ERROR, _text(said, "trace"))
        first, whole = _text(said, "first"), _text(said, "trace")
        note = whole if first in whole else f"{first}\n{whole}"
        raise Decided(EvaluationStatus.COMPILE_ERROR, note, _text(said, "log"))

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """What it answers; Decided where that is no success."""
        return self._judge(self._answer(request, "it was still running"))

    def _judge(self, said: dict[str, Any]) -> dict[str, Any]:
        if said.get("ok"):
            self._decide(said)
            return said
        self.is_spent = True
        if said.get("kind") == FAULT:
            raise JudgeFault(
                "the judge's part of a solution's process failed", _text(said, "trace")
            )
        if said.get("kind") == "setup" and self.is_trusted:
            raise SetupError(_text(said, "trace"), _text(said, "hint"))
        raise Decided(_FAILED, _text(said, "trace"))

    def turns(self, take: Turns, size: int, mode: str) -> dict[str, Any]:
        """What the referee says of turns that it has with this process; `size` is what a call writes.

        `take(seconds)` asks it. What it takes for its own part is not the solution's time.
        """
        token = self._guarded(
            lambda: self.sandboxed.tell({"op": "turns", "mode": mode, "bytes": size}, self.deadline)
        )
        start = time.monotonic()
        try:
            said = take(max(0.01, self.deadline - start))
        except BaseException:
            self.is_spent = True  # It still waits for a turn.
            raise
        self.deadline += time.monotonic() - start - float(said["spent"])
        if said["outcome"] == "hung":
            raise self._late("it was still running")
        if said["outcome"] == "forged":
            raise self._forged(str(said["note"]))
        self._judge(self._guarded(lambda: self.sandboxed.answer(token, self.deadline)))
        if said["outcome"] != "done":
            raise self._forged("it ended its turns by itself")
        return said

    def settle(self) -> None:
        """Between turns: what its process finds of what the solution left."""
        said = self.ask({"op": "settle"})
        libraries = said.get("handlers")
        if isinstance(libraries, dict):
            self._libraries = {str(number): str(file) for number, file in libraries.items()}

    def extend(self, seconds: float) -> None:
        """From now on it has so long."""
        self.deadline = time.monotonic() + seconds

    def timed(self, said: Iterable[dict[str, Any]]) -> list[TimedTurn]:
        """Turns as the referee saw them, with what this process claims of each."""
        return [
            TimedTurn(float(one["span"]), float(one["waited"]), *self._claim(one["claim"]))
            for one in said
        ]

    def _claim(self, said: Any) -> tuple[float, float]:
        """Seconds of a call, and the host's part: which are to be numbers at least."""
        if not isinstance(said, dict):
            return 0.0, 0.0
        return self._seconds(said.get("seconds")), self._seconds(said.get("host"))

    def _seconds(self, said: Any) -> float:
        if isinstance(said, int | float) and 0 <= said < float("inf"):
            return float(said)
        raise self._forged(f"it claims to have taken {said!r:.60} s")

    def _decide(self, said: dict[str, Any]) -> None:
        """What the process found of itself; what is left running of it is seen from outside."""
        findings = said.get("findings", ())
        for finding in findings if isinstance(findings, list) else ():
            if isinstance(finding, list) and len(finding) == 2:
                status, note = (str(part)[:1000] for part in finding)
                self.is_spent = self.is_spent or status == _HACK.value
                raise Decided(_status(status), note)

    def survey(self) -> None:
        """Once its runs are over: nothing that it started may still be there, by no way."""
        seen = self._surveyed()
        if seen.left:
            self.is_spent = True
            raise Decided(_HACK, f"it left a process running: {', '.join(seen.left[:8])}")
        for what, bits in seen.signals.items():
            others = bits ^ self._signals.get(what, bits)
            changed = [n for n in range(1, signal.NSIG) if others >> (n - 1) & 1]
            # A compiler that is called in the process may catch what Python ignores.
            own = [n for n in changed if what == "blocks" or not self._is_of_a_library(n)]
            if own:
                self.is_spent = True
                raise Decided(_HACK, f"it {what} the signal {_name(own[0])}, or does no longer")

    def _is_of_a_library(self, number: int) -> bool:
        """One of an installed library, which solutions are not to be held responsible for."""
        file = Path(self._libraries.get(str(number), "") or self.folder)
        return os.path.isfile(file) and not file.resolve().is_relative_to(self.folder.resolve())

    def _surveyed(self) -> Survey:
        seen = self.sandboxed.survey()
        if seen is None:
            self.is_spent = True
            raise JudgeFault("the process that watches a judged one has gone", NO_VERDICT)
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
        except JudgeFault:
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
        return Decided(_HACK, f"it speaks for the judge's own code: {why}")


def _text(said: dict[str, Any], name: str) -> str:
    return str(said.get(name, "")).strip()


def _status(said: str) -> EvaluationStatus:
    try:
        return EvaluationStatus(said)
    except ValueError:
        return _HACK


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
