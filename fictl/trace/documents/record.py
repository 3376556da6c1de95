"""Trace: a workload with the evaluation of a solution on it, one line of a dataset's files."""

from __future__ import annotations

from fictl.trace.documents.evaluation import Evaluation, EvaluationStatus
from fictl.trace.documents.part import Part, Title
from fictl.trace.documents.workload import Workload


class Trace(Part):
    """A record; without solution and evaluation, it is only a workload."""

    definition: Title
    workload: Workload
    solution: Title | None = None
    evaluation: Evaluation | None = None

    says_null = frozenset({"solution", "evaluation"})

    def is_workload_trace(self) -> bool:
        return self.solution is None and self.evaluation is None

    def is_successful(self) -> bool:
        return self.evaluation is not None and self.evaluation.status is EvaluationStatus.PASSED

    def to_line(self) -> str:
        return self.model_dump_json() + "\n"
