"""Conversion of each SM's cycles to one common time.

A GPU has a clock in ns that all SMs read, but on some GPUs it ticks once a microsecond. An SM's own
clock counts every cycle, but has its own zero. Every warp reads both clocks at its begin and its
end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

Anchor = tuple[int, int, int]  # SM, ns, cycles


@dataclass(frozen=True)
class Clocks:
    """Conversion to nanoseconds after `start`, a value of the common clock.

    cycle: ns a cycle. offsets: by SM, the number to add to its cycles times `cycle`. tick: ns
    between two values of the common clock, as far as the readings show it.
    """

    start: int
    cycle: float
    tick: int
    offsets: dict[int, tuple[int, float]]

    def at(self, sm: int, cycles: int) -> float:
        first, offset = self.offsets[sm]
        return offset + (cycles - first) * self.cycle


def clocks(anchors: Sequence[Anchor], others: Iterable[Anchor] = ()) -> Clocks:
    """Fit clocks to the warps' readings. `others` are readings from an earlier call: the longer
    distance gives a more exact cycle.
    """
    start = min(time for _, time, _ in anchors)
    cycle = _cycle([*others, *anchors])
    by_sm: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for sm, time, cycles in anchors:
        by_sm[sm].append((time, cycles))
    offsets = {sm: _offset(read, start, cycle) for sm, read in by_sm.items()}
    return Clocks(start, cycle, _tick({time for _, time, _ in anchors}), offsets)


def _cycle(anchors: Iterable[Anchor]) -> float:
    """Nanoseconds a cycle, over all SMs, which run at one frequency."""
    by_sm: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for sm, time, cycles in anchors:
        by_sm[sm].append((cycles, time))
    spans = [(min(read), max(read)) for read in by_sm.values()]
    cycles = sum(last[0] - first[0] for first, last in spans)
    return sum(last[1] - first[1] for first, last in spans) / cycles if cycles else 1.0


def _offset(read: Sequence[tuple[int, int]], start: int, cycle: float) -> tuple[int, float]:
    """The largest offset of the readings: a clock is late by up to a tick, and never early."""
    first = read[0][1]
    return first, max(time - start - (cycles - first) * cycle for time, cycles in read)


def _tick(times: Iterable[int]) -> int:
    ordered = sorted(times)
    steps = (b - a for a, b in pairwise(ordered))
    return min(steps, default=0)
