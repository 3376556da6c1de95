"""Samples of one side: its times, how they were measured, and their statistics."""

from __future__ import annotations

from dataclasses import dataclass

from fictl.timing import statistics


@dataclass(frozen=True)
class Kernel:
    """One kernel of a call: median seconds of a launch, and launches per call."""

    name: str
    seconds: float
    calls: int


@dataclass(frozen=True)
class Samples:
    """Seconds of one call, one sample for each round; a round times every copy once.

    cold: verified, not only requested.
    why: reason why no better timer was used.
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
        """Return the 95 % confidence interval of the median."""
        return statistics.interval(self.seconds)
