"""Robust statistics of repeated timings, valid for any distribution of noise."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise

from fictl.errors import InvalidValue

# Converts the median absolute deviation of normal noise to a standard deviation.
MAD_TO_SIGMA = 1.4826
# Readings closer than this are equal but for floating-point rounding.
_EQUAL = 1e-7


def median(x: Sequence[float]) -> float:
    return statistics.median(_timings(x))


def std(x: Sequence[float]) -> float:
    """Compute the standard deviation of a sample; outliers count in full."""
    return statistics.stdev(x) if len(_timings(x)) > 1 else 0.0


def stdrel(x: Sequence[float]) -> float:
    """Compute the deviation relative to the median, from the median absolute deviation.

    A single outlier hardly changes it.
    """
    middle = median(x)
    return MAD_TO_SIGMA * statistics.median(abs(seconds - middle) for seconds in x) / middle


def interval(x: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Compute the median's confidence interval for any noise, from the binomial distribution.

    The number of samples below the median is binomial. Five samples or fewer have no interval at
    0.95: the result is then their full range.
    """
    ordered = sorted(_timings(x))
    rank = _rank(len(ordered), confidence)
    return ordered[rank], ordered[-1 - rank]


def noise_floor(x: Sequence[float], confidence: float = 0.95) -> float:
    """Return the smallest relative change of the median that these samples could show."""
    low, high = interval(x, confidence)
    return max((high - low) / 2, resolution(x)) / median(x)


def resolution(*samples: Sequence[float]) -> float:
    """Estimate the timer's step: the smallest distance between two different readings."""
    readings = sorted(seconds for x in samples for seconds in x)
    gaps = (high - low for low, high in pairwise(readings))
    return min((gap for gap in gaps if gap > _EQUAL * readings[-1]), default=0.0)


def _timings(x: Sequence[float]) -> Sequence[float]:
    wrong = [seconds for seconds in x if not (math.isfinite(seconds) and seconds > 0)]
    if wrong or not x:
        raise InvalidValue(
            f"{wrong[0]!r} s is not a timing" if wrong else "no timing was given",
            "a timing is a positive number of seconds",
        )
    return x


def _rank(count: int, confidence: float) -> int:
    """Return how many samples at each end the interval leaves out.

    It uses the binomial's normal approximation: up to 1000 samples the exact rank or, rarely, one
    less.
    """
    sigmas = statistics.NormalDist().inv_cdf((1 + confidence) / 2)
    return max(0, math.floor((count - 1 - sigmas * math.sqrt(count)) / 2))
