"""Time of an evaluation: seconds by part, as `evaluation.fictl.spent` records them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

# Processes, their sandbox and, on a GPU, its context; the build of the solution or its import; the
# reference's outputs; the first calls; timed calls; calls that are only checked, where those were too
# few; empty turns; timed calls of the reference.
START, BUILD, REFERENCE, WARM_UP, TIMING, ROUNDS, OVERHEAD, BASELINE = (
    "start",
    "build",
    "reference",
    "warm_up",
    "timing",
    "rounds",
    "overhead",
    "baseline",
)
# Parts of turns: making inputs; lending them and new memory for outputs; what the clock counts; what
# is looked at after it; the reference's outputs and the comparison with them.
INPUTS, LENDING, CALLS, LOOKING, CHECKS = "inputs", "lending", "calls", "looking", "checks"
_REST = "rest"


class Spent:
    """A part within another counts for itself alone, so that all of them add up to the whole."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._part, self._since = _REST, time.monotonic()

    @contextmanager
    def on(self, part: str) -> Iterator[None]:
        before = self._part
        self._turn_to(part)
        try:
            yield
        finally:
            self._turn_to(before)

    def seconds(self) -> dict[str, float]:
        """Return the seconds of each part, the longest first."""
        self._turn_to(self._part)
        parts = sorted(self._seconds.items(), key=lambda item: -item[1])
        return {part: round(seconds, 3) for part, seconds in parts}

    def of(self, part: str) -> float:
        """Return the seconds of a part, up to when it was left last."""
        return self._seconds[part]

    def _turn_to(self, part: str) -> None:
        now = time.monotonic()
        self._seconds[self._part] += now - self._since
        self._part, self._since = part, now


def seconds_of_turn(batch: Mapping[str, Any]) -> float:
    """Return the seconds of a whole turn of a batch, except for its check."""
    parts: Mapping[str, float] = batch["parts"]
    whole = sum(parts.values()) - parts.get(CHECKS, 0.0)
    return whole / max(1, len(batch["turns"]))
