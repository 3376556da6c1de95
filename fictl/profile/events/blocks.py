"""Blocks: choice of the blocks of a grid to record."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fictl.errors import UsageError

# More warps would slow down the kernel by their stores.
MOST_WARPS = 1 << 10

_SLICE = re.compile(
    r"(?P<first>[0-9]{0,10})(?P<to>:(?P<stop>[0-9]{0,10})(?::(?P<step>[0-9]{0,10}))?)?"
)


@dataclass(frozen=True)
class Blocks:
    """Every step-th block from `first` to `stop`, as in a slice; step 0 chooses a step by
    the grid.
    """

    first: int = 0
    stop: int | None = None
    step: int = 0

    @classmethod
    def parse(cls, text: str) -> Blocks:
        """Parse `64`, `0:64`, `::8` or `all`; '' leaves the choice to the grid."""
        if text in ("", "all"):
            return cls(step=1 if text else 0)
        match = _SLICE.fullmatch(text.strip())
        if (
            match is None
            or (match["step"] or "1").strip("0") == ""
            or not re.search(r"[0-9]", text)
        ):
            raise UsageError(
                f"--blocks {text} is not a choice of blocks",
                "one by its number, first:stop, first:stop:step, or all",
            )
        first = int(match["first"] or 0)
        if not match["to"]:
            return cls(first, first + 1, 1)
        return cls(first, int(match["stop"]) if match["stop"] else None, int(match["step"] or 1))

    def of(self, grid: int, groups: int) -> range:
        """Blocks of a grid to record; `groups` is the number of slots that each block needs."""
        stop = grid if self.stop is None else min(grid, self.stop)
        return range(self.first, stop, self.step or _step(stop - self.first, groups))

    def __str__(self) -> str:
        stop = "" if self.stop is None else self.stop
        return f"{self.first}:{stop}:{self.step}" if self.step else "by the grid"


def _step(blocks: int, groups: int) -> int:
    """Choose an odd step: SMs take blocks in turn, and an even step could pick the same SMs each
    time.
    """
    step = -(-blocks * groups // MOST_WARPS)
    return 1 if step <= 1 else step | 1
