"""The result of judging one workload, before it becomes an Evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from fictl.errors import FictlError
from fictl.judge.hardware import UNKNOWN
from fictl.trace import Correctness, Environment, Evaluation, EvaluationStatus, Performance

_UNKNOWN = {"hardware": UNKNOWN, "libs": {}}


class Decided(FictlError):
    """Ends an evaluation early: its status is already known."""

    def __init__(self, status: EvaluationStatus | str, note: str, log: str = "") -> None:
        super().__init__(note)
        self.status, self.log = EvaluationStatus(status), log


class InvalidReference(FictlError):
    """The reference fails or returns impossible outputs: no solution can be compared with it."""


@dataclass
class JudgeOutcome:
    """Status, errors and times of one workload. `facts` become `evaluation.fictl`."""

    status: EvaluationStatus = EvaluationStatus.PASSED
    notes: list[str] = field(default_factory=list)
    correctness: dict[str, Any] | None = None
    seconds: float | None = None
    reference_seconds: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)

    def decide(self, failure: Decided | InvalidReference) -> None:
        """Take the status and the notes from `failure`."""
        if isinstance(failure, Decided):
            self.status = failure.status
            self.notes += filter(None, [failure.message, failure.log])
        else:
            self.status = EvaluationStatus.INVALID_REFERENCE
            self.notes += filter(None, [failure.message, failure.hint])

    def evaluation(self, environment: dict[str, Any], log: str) -> Evaluation:
        """Return the document that datasets store; `log` is the solution's output."""
        return Evaluation(
            status=self.status,
            environment=Environment(**(environment or _UNKNOWN)),
            timestamp=datetime.now(timezone.utc).isoformat(),
            log="\n".join(filter(None, [*self.notes, log.strip()])),
            correctness=self._correctness(),
            performance=self._performance(),
            fictl=self.facts,
        )

    def _correctness(self) -> Correctness | None:
        measured = Correctness(**self.correctness) if self.correctness else None
        if self.status is EvaluationStatus.PASSED:
            return measured or Correctness()
        if self.status is EvaluationStatus.INCORRECT_NUMERICAL:
            worst = float("inf")
            return measured or Correctness(max_relative_error=worst, max_absolute_error=worst)
        return None

    def _performance(self) -> Performance | None:
        if self.status is not EvaluationStatus.PASSED or self.seconds is None:
            return None
        return Performance(
            latency_ms=self.seconds * 1e3,
            reference_latency_ms=self.reference_seconds * 1e3,
            speedup_factor=self.reference_seconds / self.seconds if self.seconds else 0.0,
        )
