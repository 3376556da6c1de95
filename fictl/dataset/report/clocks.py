"""Places of one kind of hardware whose clocks are set differently: their results are kept apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from fictl.dataset.report.result import Result
from fictl.timing.clocks import are_alike


def apart(results: Sequence[Result]) -> list[Result]:
    """Name the hardware of a place by its clock, too, where that is below that of other places.

    A place's clock is the median of all its results: a single one may be slowed by heat or power.
    """
    clocks = _clocks(results)
    highest: dict[str, float] = {}
    for (hardware, _), clock in clocks.items():
        highest[hardware] = max(clock, highest.get(hardware, 0.0))
    slow = {
        at: f"{at[0]} at {clock:.0f} MHz"
        for at, clock in clocks.items()
        if not are_alike(clock, highest[at[0]])
    }
    return [
        replace(result, hardware=slow.get((result.hardware, result.place), result.hardware))
        for result in results
    ]


def _clocks(results: Iterable[Result]) -> dict[tuple[str, str], float]:
    seen: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for result in results:
        if result.sm_mhz:
            seen[result.hardware, result.place].append(result.sm_mhz)
    return {at: median(values) for at, values in seen.items()}
