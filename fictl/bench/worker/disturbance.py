"""Between two rounds of a timing: other numbers and poisoned outputs, so that later rounds must work.

What a kernel remembers of earlier calls is wrong then, and what it does not write stays poison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fictl.bench.observer import BenchObserver
from fictl.case.poison import poison
from fictl.case.trial import CaseTrial


@dataclass
class Disturbance:
    """Called after every round; `index` is the copy that was disturbed after round `at`."""

    trials: Sequence[CaseTrial]
    observer: BenchObserver
    index: int = 0
    at: int = -1
    rounds: int = 0

    def __call__(self, number: int) -> None:
        self.rounds = number
        self.observer.round(number)
        # Why not once for all: a timer that does not work is followed by another, from round 1.
        if number == 1:
            self.at = number
            self.disturb()

    def disturb(self) -> None:
        """The last copy of all sides: what only the first is computed for is found, too."""
        self.index = min(max(trial.prepared, default=0) for trial in self.trials)
        workload = self.trials[0].workload
        shared = not workload.subject.changes_inputs
        for trial in self.trials[: 1 if shared else None]:
            workload.renew(self.index, trial.copy(self.index).inputs)
        for trial in self.trials:
            poison(trial.copy(self.index).fresh())

    def problem(self, trial: CaseTrial) -> str:
        """Error in the results that the timed calls of a side left.

        A call more is made where no round followed, or where calls change their own inputs.
        """
        if trial.workload.subject.changes_inputs:
            trial.workload.renew(self.index, trial.copy(self.index).inputs)
        elif self.rounds > self.at >= 0:
            return trial.problem(self.index)
        return trial.attempt(self.index)
