"""What came of one workload, on the way to an Evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from fictl.errors import FictlError
from fictl.trace import Correctness, Environment, Evaluation, EvaluationStatus, Performance

_UNKNOWN = {"hardware": "unknown", "libs": {}}


class Decided(FictlError):
    """The status is known before all has been run."""

    def __init__(self, status: EvaluationStatus | str, note: str, log: str = "") -> None:
        super().__init__(note)
        self.status, self.log = EvaluationStatus(status), log


class InvalidReference(FictlError):
    """The reference fails, or gives what cannot be right: no solution can be held against it."""


@dataclass
class Outcome:
    """`facts` become `evaluation.fictl`."""

    status: EvaluationStatus = EvaluationStatus.PASSED
    notes: list[str] = field(default_factory=list)
    correctness: dict[str, Any] | None = None
    seconds: float | None = None
    reference_seconds: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)

    def decide(self, decided: Decided) -> None:
        self.status = decided.status
        self.notes += filter(None, [decided.message, decided.log])

    def evaluation(self, environment: dict[str, Any], log: str) -> Evaluation:
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
        found = Correctness(**self.correctness) if self.correctness else None
        if self.status is EvaluationStatus.PASSED:
            return found or Correctness()
        if self.status is EvaluationStatus.INCORRECT_NUMERICAL:
            worst = float("inf")
            return found or Correctness(max_relative_error=worst, max_absolute_error=worst)
        return None

    def _performance(self) -> Performance | None:
        if self.status is not EvaluationStatus.PASSED or self.seconds is None:
            return None
        return Performance(
            latency_ms=self.seconds * 1e3,
            reference_latency_ms=self.reference_seconds * 1e3,
            speedup_factor=self.reference_seconds / self.seconds if self.seconds else 0.0,
        )
