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


@dataclass(frozen=True)
class TimingPlan:
    """`lead` untimed calls, then `count` timed ones; all of it `trials` times."""

    lead: int
    count: int
    trials: int

    @classmethod
    def of(cls, seconds: float, count: int, trials: int, device: str) -> TimingPlan:
        """Plan at most `count` calls and `trials` trials of a call that takes `seconds`."""
        if seconds > _SLOW_SECONDS:
            return cls(0, 1, 1)
        longest = _EMULATED_BATCH_SECONDS if device == "emu" else _BATCH_SECONDS
        fitting = int(longest / seconds) if seconds > 0 else count
        lead = _LEAD if seconds * _LEAD < _LEAD_SECONDS else 0
        return cls(lead, max(1, min(count, fitting)), trials)
