"""Verdict: an evaluator's result for one round, or for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fictl.trace import EvaluationStatus

if TYPE_CHECKING:
    from fictl.trace import Correctness


@dataclass(frozen=True)
class Verdict:
    """`note` describes the failure for the log."""

    status: EvaluationStatus
    correctness: Correctness | None = None
    note: str = ""

    @property
    def passed(self) -> bool:
        return self.status is EvaluationStatus.PASSED


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The first verdict that failed, with the largest errors of all."""
    from fictl.trace import Correctness

    first = next((verdict for verdict in verdicts if not verdict.passed), verdicts[0])
    measured = [verdict.correctness for verdict in verdicts if verdict.correctness is not None]
    if first.correctness is None:
        return first
    correctness = Correctness(
        max_relative_error=max(verdict.max_relative_error for verdict in measured),
        max_absolute_error=max(verdict.max_absolute_error for verdict in measured),
        extra=first.correctness.extra,
    )
    return Verdict(first.status, correctness, first.note)
