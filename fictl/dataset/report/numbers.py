"""Statistics of a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from fictl.dataset.report.result import Result

# fast_p: share of tasks that are correct and more than p times as fast as the reference.
FAST = (1.0, 1.5, 2.0)
LOWEST, HIGHEST = -4, 6


def mean(speedups: Iterable[float]) -> float:
    """Geometric mean: twice as fast and half as fast make 1. It is 0 if there are no values."""
    logs = [math.log(speedup) for speedup in speedups if speedup > 0 and math.isfinite(speedup)]
    return math.exp(sum(logs) / len(logs)) if logs else 0.0


def best_by_task(results: Iterable[Result]) -> dict[tuple[str, str], float]:
    """Largest speedup of each workload; 0 if no solution passed or the reference has no time."""
    best: dict[tuple[str, str], float] = {}
    for result in results:
        speed = result.speedup if result.passed and math.isfinite(result.speedup) else 0.0
        best[result.task] = max(best.get(result.task, 0.0), speed)
    return best


def fast(best: Mapping[tuple[str, str], float], factor: float) -> float:
    return sum(speedup > factor for speedup in best.values()) / len(best) if best else 0.0


def distribution(speedups: Sequence[float]) -> list[tuple[float, float, int]]:
    """Counts of speedups as (low, high, count), in steps of half a power of two."""
    steps = [_step(speedup) for speedup in speedups if speedup > 0 and math.isfinite(speedup)]
    if not steps:
        return []
    return [
        (2 ** (step / 2), 2 ** ((step + 1) / 2), steps.count(step))
        for step in range(min(steps), max(steps) + 1)
    ]


def _step(speedup: float) -> int:
    """Index of a speedup's step; values beyond the ends count there."""
    return min(max(math.floor(2 * math.log2(speedup) + 1e-9), 2 * LOWEST), 2 * HIGHEST)
