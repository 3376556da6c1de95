"""What repeated timings say together: robust, and right whatever their noise is like."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise

from fictl.errors import InvalidValue

# Makes the median absolute deviation of normal noise its standard deviation.
MAD_TO_SIGMA = 1.4826
# Nearer than this two readings are one, but for how a float was rounded.
_EQUAL = 1e-7


def median(x: Sequence[float]) -> float:
    return statistics.median(_timings(x))


def std(x: Sequence[float]) -> float:
    """Of a sample; outliers count in full."""
    return statistics.stdev(x) if len(_timings(x)) > 1 else 0.0


def stdrel(x: Sequence[float]) -> float:
    """Relative to the median, from the median absolute deviation: an outlier changes nothing."""
    middle = median(x)
    return MAD_TO_SIGMA * statistics.median(abs(each - middle) for each in x) / middle


def interval(x: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Of the median, whatever the noise is like: the number of samples below it is binomial.

    With five samples or fewer there is no such interval at 0.95: then it is all of them.
    """
    ordered = sorted(_timings(x))
    rank = _rank(len(ordered), confidence)
    return ordered[rank], ordered[-1 - rank]


def noise_floor(x: Sequence[float], confidence: float = 0.95) -> float:
    """The smallest relative change of the median that these samples could show."""
    low, high = interval(x, confidence)
    return max((high - low) / 2, resolution(x)) / median(x)


def resolution(*samples: Sequence[float]) -> float:
    """The step of the timer as far as it shows: the least distance of two readings that differ."""
    readings = sorted(each for x in samples for each in x)
    gaps = (high - low for low, high in pairwise(readings))
    return min((gap for gap in gaps if gap > _EQUAL * readings[-1]), default=0.0)


def _timings(x: Sequence[float]) -> Sequence[float]:
    wrong = [each for each in x if not (math.isfinite(each) and each > 0)]
    if wrong or not x:
        raise InvalidValue(
            f"{wrong[0]!r} s is no timing" if wrong else "no timing was given",
            "a timing is a positive number of seconds",
        )
    return x


def _rank(count: int, confidence: float) -> int:
    """How many samples at each end the interval leaves out.

    The binomial's normal approximation: up to 1000 samples the exact rank or, rarely, one less.
    """
    sigmas = statistics.NormalDist().inv_cdf((1 + confidence) / 2)
    return max(0, math.floor((count - 1 - sigmas * math.sqrt(count)) / 2))
