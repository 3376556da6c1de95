"""TimingPlan: the number of calls to time, derived from the time of one call."""

from __future__ import annotations

from dataclasses import dataclass

# Longest batch, unless it is a single call.
_BATCH_SECONDS = 2.0
# On a GPU a turn's memory, inputs and checks take milliseconds, many times a short call: then so
# much time is enough, with this many calls at least.
_SHORT_BATCH_SECONDS, _LEAST = 0.06, 10
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

    @property
    def clocked(self) -> int:
        """Calls without a recording, on a GPU: they only bound what the recorded ones tell."""
        return -(-self.count // 2)

    @classmethod
    def of(
        cls, seconds: float, count: int, trials: int, device: str, turn: float = 0.0
    ) -> TimingPlan:
        """Plan at most `count` calls and `trials` trials of a call that takes `seconds`.

        turn: seconds of all of its turn, where they are known.
        """
        if seconds > _SLOW_SECONDS:
            return cls(0, 1, 1)
        longest = _EMULATED_BATCH_SECONDS if device == "emu" else _BATCH_SECONDS
        fitting = int(longest / seconds) if seconds > 0 else count
        if device.startswith("cuda") and turn > 0:
            fitting = min(fitting, max(_LEAST, int(_SHORT_BATCH_SECONDS / turn)))
        lead = _LEAD if seconds * _LEAD < _LEAD_SECONDS else 0
        return cls(lead, max(1, min(count, fitting)), trials)
