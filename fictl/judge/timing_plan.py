"""TimingPlan: the number of calls to time, derived from the time of one call."""

from __future__ import annotations

from dataclasses import dataclass

# Longest batch, unless it is a single call.
_BATCH_SECONDS = 2.0
# Times of emulated calls say nothing of a GPU: few calls are enough to show that they are right.
_EMULATED_BATCH_SECONDS = 0.2
_SLOW_SECONDS = 1.0
# Untimed calls before the timed ones, in which caches and clocks settle.
_LEAD, _LEAD_SECONDS = 3, 0.3

# On a GPU a turn's memory, inputs and checks take milliseconds, many times a short call, so whole
# turns are planned: as many as fit into this time for all trials, and never fewer than the least.
_GPU_SECONDS, _GPU_LEAD_SECONDS = 0.09, 0.03
_LEAST = 12
# Calls that are recorded, for one that is not: those only bound what the recorded ones tell.
_RECORDED = 3
# Turns that take longer copy gigabytes or have a slow call: its time varies less.
_LONG_SECONDS, _LEAST_LONG = 0.02, 5
_SLOW_ON_GPU = 0.5
_LEAST_OF_TRIAL = 4
_WARM_UP_SECONDS = 0.05


@dataclass(frozen=True)
class TimingPlan:
    """`lead` untimed calls, then `count` timed ones; all of it `trials` times.

    at_once: the trials are the parts of one batch, with one `lead`.
    """

    lead: int
    count: int
    trials: int
    at_once: bool = False

    @property
    def passes(self) -> int:
        """Number of batches."""
        return 1 if self.at_once else self.trials

    @property
    def timed(self) -> int:
        """Timed calls of a batch."""
        return self.count * self.trials if self.at_once else self.count

    @property
    def clocked(self) -> int:
        """Calls without a recording, on a GPU: enough for each trial to have one."""
        return min(self.timed, max(-(-self.timed // _RECORDED), self.trials))

    @classmethod
    def of(
        cls, seconds: float, count: int, trials: int, device: str, turn: float = 0.0
    ) -> TimingPlan:
        """Plan at most `count` calls and `trials` trials of a call that takes `seconds`.

        turn: seconds of all of its turn, where they are known.
        """
        if device.startswith("cuda"):
            return cls._on_gpu(seconds, count, trials, max(turn, seconds))
        if seconds > _SLOW_SECONDS:
            return cls(0, 1, 1)
        is_emulated = device == "emu"
        longest = _EMULATED_BATCH_SECONDS if is_emulated else _BATCH_SECONDS
        fitting = int(longest / seconds) if seconds > 0 else count
        lead = _LEAD if seconds * _LEAD < _LEAD_SECONDS else 0
        return cls(lead, max(1, min(count, fitting)), 1 if is_emulated else trials)

    @classmethod
    def _on_gpu(cls, seconds: float, count: int, trials: int, turn: float) -> TimingPlan:
        if seconds > _SLOW_ON_GPU:
            return cls(0, 1, 1, at_once=True)
        least = _LEAST_LONG if turn > _LONG_SECONDS else _LEAST
        fitting = int(_GPU_SECONDS / turn) if turn > 0 else count * trials
        total = min(count * trials, max(least, fitting))
        trials = max(1, min(trials, total // _LEAST_OF_TRIAL))
        lead = min(_LEAD, int(_GPU_LEAD_SECONDS / turn)) if turn > 0 else _LEAD
        return cls(lead, total // trials, trials, at_once=True)


def warm_ups(seconds: float, left: int, device: str, turn: float) -> int:
    """Return how many of the `left` calls before the timed ones to make, after the first ones."""
    if left <= 0:
        return 0
    if device == "cpu":
        return TimingPlan.of(seconds, left, 1, device).count
    return min(left, max(1, int(_WARM_UP_SECONDS / max(turn, seconds, 1e-6))))
