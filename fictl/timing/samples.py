"""Samples of one side: its times, how they were taken, and their statistics."""

from __future__ import annotations

from dataclasses import dataclass

from fictl.timing import statistics


@dataclass(frozen=True)
class Kernel:
    """One kernel of a call: the median of one launch, in seconds, and the launches of one call."""

    name: str
    seconds: float
    calls: int


@dataclass(frozen=True)
class Samples:
    """One sample a round, which times every copy once: the seconds of one call.

    `cold` is what was verified, not what was asked for; `why` says why no better timer was used.
    """

    seconds: tuple[float, ...]
    timer: str
    cold: bool
    copies: int
    kernels: tuple[Kernel, ...] = ()
    why: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def std(self) -> float:
        return statistics.std(self.seconds)

    @property
    def stdrel(self) -> float:
        return statistics.stdrel(self.seconds)

    @property
    def interval(self) -> tuple[float, float]:
        """Confidence interval of the median, at 95 %."""
        return statistics.interval(self.seconds)
