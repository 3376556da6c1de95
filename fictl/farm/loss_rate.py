"""The rate at which innocent tasks are lost: as many losses in a row are not evidence."""

from __future__ import annotations

import threading

# A task that this many places lost has failed, where losses are rare; at the latest after MOST.
FEWEST, MOST = 3, 12
# Tasks of a run that may be blamed for what their places did, on average.
_WRONGLY_BLAMED = 0.001
# What is assumed before a run has shown its own rate: one loss in so many attempts.
_ATTEMPTS_A_LOSS = 20


class LossRate:
    """Counts attempts at tasks, without those at blamed ones; threads of all places share it.

    total: the number of tasks of the run: the more they are, the more are lost often by chance.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._attempts, self._losses = _ATTEMPTS_A_LOSS, 1
        self._lock = threading.Lock()

    def ended_well(self) -> None:
        with self._lock:
            self._attempts += 1

    def lost(self) -> None:
        with self._lock:
            self._attempts += 1
            self._losses += 1

    def blamed(self, losses: int) -> None:
        """Forget the losses of a task: it, and not its places, was the reason."""
        with self._lock:
            self._attempts -= losses
            self._losses -= losses

    def is_evidence(self, losses: int) -> bool:
        """Tell whether chance would hardly lose one of all tasks this often, as others are lost."""
        if losses < FEWEST or losses >= MOST:
            return losses >= MOST
        with self._lock:
            rate = max(self._losses - losses, 1) / max(self._attempts - losses, 1)
        return float(self._total * rate**losses) < _WRONGLY_BLAMED
