"""Verdict on two sides: one is slower than the other, or these timings cannot decide."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from fictl.errors import InvalidValue
from fictl.timing.statistics import MAD_TO_SIGMA, interval, median, resolution

# Runs of one program differ by this much, due to clocks, temperature and memory placement.
RUN_TO_RUN = 0.01

_FEWEST = 6
# Above this many rounds, merge adjacent ones: their noise is alike, and pairs grow as the square.
_MOST_ROUNDS = 200
_TOO_MANY_TO_ASK_FOR = 1_000


class Verdict(str, Enum):
    """Verdict on the second side, compared with the first."""

    SAME = "SAME"
    FASTER = "FASTER"
    SLOWER = "SLOWER"
    UNCLEAR = "UNCLEAR"


@dataclass(frozen=True)
class Comparison:
    """Result of a comparison.

    ratio: b / a; above 1, b is slower.
    advice: how to resolve UNCLEAR.
    """

    ratio: float
    low: float
    high: float
    verdict: Verdict
    advice: str = ""


def compare_rounds(
    a: Sequence[float], b: Sequence[float], threshold: float = 0.01, confidence: float = 0.95
) -> Comparison:
    """Compare two sides of one run, round by round, so that drift common to both cancels.

    The interval is that of Wilcoxon's signed ranks. It assumes only that both sides see the same
    noise, which interleaving provides; outliers hardly move it.
    """
    if len(a) != len(b):
        raise InvalidValue(
            f"{len(a)} rounds of one side and {len(b)} of the other are no pairs",
            "compare_runs takes samples of different runs",
        )
    step = _step(a, b)
    return _Evidence(*_signed_ranks(a, b, confidence), step, len(a)).judge(threshold)


def compare_runs(
    a: Sequence[float],
    b: Sequence[float],
    threshold: float = 0.01,
    confidence: float = 0.95,
    run_to_run: float = RUN_TO_RUN,
) -> Comparison:
    """Compare samples of different runs, which may differ by `run_to_run` for external reasons."""
    widths = [math.log(high / low) / 2 for low, high in (interval(x, confidence) for x in (a, b))]
    center = math.log(median(b) / median(a))
    count = min(len(a), len(b))
    return _Evidence(center, math.hypot(*widths), _step(a, b), count, run_to_run).judge(threshold)


@dataclass(frozen=True)
class _Evidence:
    """Logarithms of b / a: the best estimate and its possible errors.

    More rounds reduce the noise, but neither the timer's step nor the difference between runs.
    """

    center: float
    noise: float
    step: float
    rounds: int
    run_to_run: float = 0.0

    @property
    def error(self) -> float:
        return self.noise + self.step + self.run_to_run

    def judge(self, threshold: float) -> Comparison:
        if not 0 < threshold < math.inf:
            raise InvalidValue(f"the threshold {threshold!r} decides nothing", "as in 0.01")
        verdict = self._verdict(math.log1p(threshold))
        advice = self._advice(threshold) if verdict is Verdict.UNCLEAR else ""
        low, high = (math.exp(self.center + sign * self.error) for sign in (-1, 1))
        return Comparison(math.exp(self.center), low, high, verdict, advice)

    def _verdict(self, margin: float) -> Verdict:
        """Decide. SAME: the best estimate is within the margin, and the worst within twice the
        margin.
        """
        off = abs(self.center)
        if self.rounds < _FEWEST:
            return Verdict.UNCLEAR
        if off - self.error > margin:
            return Verdict.SLOWER if self.center > 0 else Verdict.FASTER
        margin += self.run_to_run
        return Verdict.SAME if off <= margin >= off + self.error - margin else Verdict.UNCLEAR

    def _advice(self, threshold: float) -> str:
        if self.rounds < _FEWEST:
            return f"{self.rounds} rounds are too few: {_FEWEST} at least"
        if self.step > math.log1p(threshold):
            return f"the timer steps by {self.step:.1%}: a larger case, or a finer timer"
        needed = self._rounds_needed(math.log1p(threshold))
        if needed <= _TOO_MANY_TO_ASK_FOR:
            return f"about {needed:.0f} rounds would tell; these are {self.rounds}"
        if self.noise > threshold:
            return f"noise of {self.noise:.1%} hides it: a larger case, or a quieter machine"
        return f"it is too near the threshold of {threshold:.1%} to tell"

    def _rounds_needed(self, margin: float) -> float:
        """Estimate the rounds for a verdict: noise falls with the square root of their number."""
        off, fixed = abs(self.center), self.step + self.run_to_run
        same = 2 * (margin + self.run_to_run) - off if off <= margin + self.run_to_run else 0.0
        bearable = max(off - margin, same) - fixed
        return self.rounds * (self.noise / bearable) ** 2 if bearable > 0 else math.inf


def _signed_ranks(a: Sequence[float], b: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the shift from a to b and its possible error, from the means of all round pairs."""
    shifts = _clipped(_merged([math.log(y / x) for x, y in zip(a, b, strict=True)]))
    count = len(shifts)
    means = sorted((x + y) / 2 for i, x in enumerate(shifts) for y in shifts[i:])
    sigmas = statistics.NormalDist().inv_cdf((1 + confidence) / 2)
    spread = math.sqrt(count * (count + 1) * (2 * count + 1) / 24)
    rank = max(0, math.floor(len(means) / 2 + 0.5 - sigmas * spread) - 1)
    center = statistics.median(means)
    return center, max(center - means[rank], means[-1 - rank] - center)


def _merged(shifts: Sequence[float]) -> list[float]:
    size = -(-len(shifts) // _MOST_ROUNDS)
    groups = (shifts[start : start + size] for start in range(0, len(shifts), size))
    return [statistics.median(group) for group in groups]


def _clipped(shifts: Sequence[float]) -> list[float]:
    """Clip outliers at 1.5 sigmas, after Huber: else one in ten spoils a fifth of all pairs."""
    middle = statistics.median(shifts)
    most = 1.5 * MAD_TO_SIGMA * statistics.median(abs(shift - middle) for shift in shifts)
    return [min(max(shift, middle - most), middle + most) for shift in shifts]


def _step(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the timer's relative step: each of the two medians may be off by half of it."""
    return resolution(a, b) / min(median(a), median(b))
