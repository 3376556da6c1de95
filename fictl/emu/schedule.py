"""The order in which the emulated device runs threads; correct kernels work in any order."""

from __future__ import annotations

import random
from dataclasses import dataclass

_ORDERS = ("forward", "reverse", "random")


@dataclass(frozen=True)
class Schedule:
    """The order of threads and blocks.

    early: asynchronous copies complete when they are issued, not when they are waited for.
    In random order, bulk copies complete at random either way.
    """

    order: str = "forward"
    seed: int = 0
    early: bool = False

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """Parse 'forward', 'reverse' or 'random-7'; 'random' draws a seed."""
        order, _, number = text.partition("-")
        seed = int(number) if number else random.SystemRandom().randrange(1, 2**31)
        if order == "random":
            return cls("random", seed, early=seed % 2 == 1)
        return cls(order, early=order == "reverse")

    @property
    def code(self) -> int:
        """Return the runtime's number for the order."""
        return _ORDERS.index(self.order)

    def __str__(self) -> str:
        """Return the value of FICTL_EMU_SCHEDULE that repeats this schedule."""
        return f"random-{self.seed}" if self.order == "random" else self.order


def all_schedules() -> tuple[Schedule, ...]:
    """Return three schedules: forward (late copies), reverse (early copies), random."""
    return tuple(map(Schedule.parse, _ORDERS))
