"""The judge's talk with the solution's process: what its silence, its end and its lies mean."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fictl.errors import FictlError
from fictl.judge.fault import FAULT, NO_VERDICT, JudgeFault
from fictl.judge.outcome import Decided
from fictl.judge.process import cell as cells
from fictl.judge.process.cell import Cell
from fictl.trace import Definition, EvaluationStatus, Solution

_WITHHELD = "def run(*inputs):\n    raise PermissionError('the reference stays with the judge')\n"
_FAILED = EvaluationStatus.RUNTIME_ERROR
_HACK = EvaluationStatus.REWARD_HACK
_DEFAULT_TIME = 600.0


@dataclass
class Contact:
    """`deadline` is on the monotonic clock; `elapsed` what the last answer took, by our clock."""

    cell: Cell
    folder: Path
    deadline: float = field(default_factory=lambda: time.monotonic() + _DEFAULT_TIME)
    elapsed: float = 0.0
    is_spent: bool = False

    def build(self, definition: Definition, solution: Solution, device: str) -> None:
        """Nothing of the reference goes along."""
        shown = definition.model_copy(
            update={"reference": _WITHHELD, "init": None, "custom_inputs_entrypoint": None}
        )
        said = self._answer({
            "op": "build", "definition": shown.model_dump(mode="json"),
            "solution": solution.model_dump(mode="json"), "device": device,
        }, "it was still being built")  # fmt: skip
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
        said = self._answer(request, "it was still running")
        if said.get("ok"):
            self._settle(said)
            return said
        self.is_spent = True
        if said.get("kind") == FAULT:
            raise JudgeFault(
                "the judge's part of a solution's process failed", _text(said, "trace")
            )
        if said.get("kind") == "nothing":
            raise Decided(_HACK, _text(said, "trace"))
        raise Decided(_FAILED, _text(said, "trace"))

    def seconds(self, said: dict[str, Any]) -> float:
        """A claim, which is to be a number at least."""
        claim = said.get("seconds")
        if isinstance(claim, int | float) and 0 <= claim < float("inf"):
            return float(claim)
        raise self._forged(f"it claims to have taken {claim!r:.60} s")

    def _settle(self, said: dict[str, Any]) -> None:
        """What the process found of itself; what is left running of it is seen from outside."""
        findings = said.get("findings", ())
        for finding in findings if isinstance(findings, list) else ():
            if isinstance(finding, list) and len(finding) == 2:
                status, note = (str(part)[:1000] for part in finding)
                self.is_spent = self.is_spent or status == _HACK.value
                raise Decided(_status(status), note)

    def survey(self) -> None:
        """Once its runs are over: nothing that it started may still be there."""
        left = self.cell.survey()
        if left is None:
            self.is_spent = True
            raise JudgeFault("the process that watches a judged one has gone", NO_VERDICT)
        if left:
            self.is_spent = True
            raise Decided(_HACK, f"it left a process running: {', '.join(left[:8])}")

    def close(self) -> None:
        self.cell.close()

    def _answer(self, request: dict[str, Any], doing: str) -> dict[str, Any]:
        start = time.monotonic()
        try:
            return self.cell.ask(request, max(0.01, self.deadline - start))
        except cells.Hung:
            self.is_spent = True
            raise Decided(EvaluationStatus.TIMEOUT, f"{doing} when its time was up") from None
        except cells.Forged as error:
            raise self._forged(error.message) from None
        except JudgeFault:
            self.is_spent = True
            raise
        except FictlError as error:
            self.is_spent = True
            raise Decided(_FAILED, error.message) from None
        finally:
            self.elapsed = time.monotonic() - start

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
