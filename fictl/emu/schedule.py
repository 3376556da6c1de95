"""The order in which the emulated device runs threads: a correct kernel does not depend on it."""

from __future__ import annotations

import random
from dataclasses import dataclass

_ORDERS = ("forward", "reverse", "random")


@dataclass(frozen=True)
class Schedule:
    """`order` of threads and blocks; cp.async lands when it is waited for, or at once if `early`."""

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
        """The runtime's number for the order."""
        return _ORDERS.index(self.order)

    def __str__(self) -> str:
        """The value of FICTL_EMU_SCHEDULE that repeats it."""
        return f"random-{self.seed}" if self.order == "random" else self.order


def all_schedules() -> tuple[Schedule, ...]:
    """Both directions, copies late and early, and a random one."""
    return tuple(map(Schedule.parse, _ORDERS))
