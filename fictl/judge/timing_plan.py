"""How many calls are timed, of what takes so long."""

from __future__ import annotations

from dataclasses import dataclass

# A batch lasts so long at most, if it is not a single call.
_BATCH_SECONDS = 2.0
_SLOW_SECONDS = 1.0
# Untimed calls, by which caches and clocks are what they are in a row of calls.
_LEAD, _LEAD_SECONDS = 3, 0.3


@dataclass(frozen=True)
class TimingPlan:
    """`lead` calls that are not timed, then `count` that are; all of it `trials` times."""

    lead: int
    count: int
    trials: int

    @classmethod
    def of(cls, seconds: float, count: int, trials: int) -> TimingPlan:
        """`count` and `trials` are the most that is wanted, `seconds` what a call takes."""
        if seconds > _SLOW_SECONDS:
            return cls(0, 1, 1)
        fitting = int(_BATCH_SECONDS / seconds) if seconds > 0 else count
        lead = _LEAD if seconds * _LEAD < _LEAD_SECONDS else 0
        return cls(lead, max(1, min(count, fitting)), trials)
