"""RunOutcome: the result of one solution on one workload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fictl.trace import Evaluation


@dataclass(frozen=True)
class RunOutcome:
    """An evaluation, or the reason for its absence, which is not the solution's fault.

    `is_fault` means that the judge or its machine failed, and not the dataset. `place` is empty for
    what failed before it got to one.
    """

    definition: str
    solution: str
    workload: str
    evaluation: Evaluation | None = None
    error: str = ""
    is_fault: bool = False
    place: str = ""

    @property
    def status(self) -> str:
        return self.evaluation.status.value if self.evaluation is not None else "ERROR"

    @property
    def passed(self) -> bool:
        return self.status == "PASSED"

    def to_dict(self) -> dict[str, Any]:
        performance = self.evaluation.performance if self.evaluation is not None else None
        return {
            "definition": self.definition,
            "solution": self.solution,
            "workload": self.workload,
            "status": self.status,
            "latency_ms": performance.latency_ms if performance else None,
            "speedup": performance.speedup_factor if performance else None,
            "error": self.error or None,
            "place": self.place or None,
        }
