"""A side on the workload of its rank: all ranks compute their references at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fictl.case.copies import copied
from fictl.case.poison import poison
from fictl.case.trial import CaseTrial
from fictl.case.workload import TrialWorkload
from fictl.ranks.team import RankFailed, Team


class RankWorkload(TrialWorkload):
    """A reference may call torch.distributed, so that it is called on all ranks or on none."""

    expected: tuple[Any, ...] = ()

    def expect(self, inputs: Mapping[str, Any]) -> None:
        self.expected = super().reference(inputs)

    def reference(self, inputs: Mapping[str, Any]) -> tuple[Any, ...]:
        return self.expected


@dataclass
class RankTrial(CaseTrial):
    """All ranks call it, or none goes on: `team` tells them of an error of one."""

    team: Team | None = None

    def attempt(self, index: int) -> str:
        assert self.team is not None
        before: dict[str, Any] = {}
        own: list[Exception] = []

        def call() -> None:
            try:
                before.update(self._called(index))
            except Exception as error:
                own.append(error)
                raise

        _, problem = self.team.attempt(call)
        if problem:
            raise own[0] if own else RankFailed(problem)
        return self.problem(index, before)

    def problem(self, index: int, inputs: Mapping[str, Any] | None = None) -> str:
        """Compute the reference before any look at this rank's own results."""
        workload = self.workload
        if isinstance(workload, RankWorkload) and workload.refcheck:
            workload.expect(self.prepared[index].inputs if inputs is None else inputs)
        return super().problem(index, inputs)

    def _called(self, index: int) -> dict[str, Any]:
        """Call a copy once, on poisoned outputs; return its inputs as they were before."""
        prepared = self.copy(index)
        changes = self.workload.subject.changes_inputs
        before: dict[str, Any] = copied(prepared.inputs) if changes else prepared.inputs
        poison(prepared.fresh())
        prepared()
        return before
