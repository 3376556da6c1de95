"""Replacement of inputs and poisoning of outputs between two rounds, so that a kernel that keeps
earlier results, or does not write its outputs, is caught.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fictl.bench.observer import BenchObserver
from fictl.case.poison import poison
from fictl.case.trial import CaseTrial


@dataclass
class Disturbance:
    """Hook called after every round; `index` is the copy that was disturbed after round `at`."""

    trials: Sequence[CaseTrial]
    observer: BenchObserver
    index: int = 0
    at: int = -1
    rounds: int = 0

    def __call__(self, number: int) -> None:
        self.rounds = number
        self.observer.round(number)
        # Why not only once: if a timer fails, the next one starts again from round 1.
        if number == 1:
            self.at = number
            self.disturb()

    def disturb(self) -> None:
        """Disturb the last copy of all sides: a side may have computed only the first copy."""
        self.index = min(max(trial.prepared, default=0) for trial in self.trials)
        workload = self.trials[0].workload
        shared = not workload.subject.changes_inputs
        for trial in self.trials[: 1 if shared else None]:
            workload.renew(self.index, trial.copy(self.index).inputs)
        for trial in self.trials:
            poison(trial.copy(self.index).fresh())

    def problem(self, trial: CaseTrial) -> str:
        """Say what is wrong with the results of a side's timed calls, or ''.

        If no round followed, or calls change their inputs, one more call is made.
        """
        if trial.workload.subject.changes_inputs:
            trial.workload.renew(self.index, trial.copy(self.index).inputs)
        elif self.rounds > self.at >= 0:
            return trial.problem(self.index)
        return trial.attempt(self.index)
