"""Statistics of repeated timings: robust, and right whatever their noise is like."""

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
    """Standard deviation of a sample; outliers count in full."""
    return statistics.stdev(x) if len(_timings(x)) > 1 else 0.0


def stdrel(x: Sequence[float]) -> float:
    """Relative to the median, from the median absolute deviation: an outlier changes nothing."""
    middle = median(x)
    return MAD_TO_SIGMA * statistics.median(abs(seconds - middle) for seconds in x) / middle


def interval(x: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Confidence interval of the median for any noise: the number of samples below it is binomial.

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
    """Number of samples at each end that the interval leaves out.

    The binomial's normal approximation: up to 1000 samples the exact rank or, rarely, one less.
    """
    sigmas = statistics.NormalDist().inv_cdf((1 + confidence) / 2)
    return max(0, math.floor((count - 1 - sigmas * math.sqrt(count)) / 2))
