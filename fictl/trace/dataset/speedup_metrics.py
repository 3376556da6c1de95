"""Scores against the solution of a baseline author, as flashinfer-bench computes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fictl.errors import InvalidValue
from fictl.trace.documents.record import Trace
from fictl.trace.documents.solution import Solution

BASELINE = "baseline"


@dataclass(frozen=True)
class SpeedupMetrics:
    """`avg_speedup` is the mean of the baseline's latency over the scored latency.

    For a solution it is taken over workloads; for an author over definitions, each with the
    author's best solution, which `best_solutions` names.
    """

    avg_speedup: float
    definitions: int
    workloads: int
    success_rate: float
    win_rate: float
    best_solutions: dict[str, str] | None = None


@dataclass
class Latencies:
    """Results of one solution: the shortest time of each passed workload, and all workloads run."""

    passed: dict[str, float] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    has_failed: bool = False
    problem: str = ""

    def add(self, trace: Trace) -> None:
        evaluation, uuid = trace.evaluation, trace.workload.uuid
        if evaluation is None:
            return
        self.touched.add(uuid)
        if not trace.is_successful():
            self.has_failed = True
            return
        latency = evaluation.performance.latency_ms if evaluation.performance else 0.0
        if not latency > 0:
            self.problem = f"{trace.solution} passed workload {uuid} in {latency} ms"
        self.passed[uuid] = min(latency, self.passed.get(uuid, latency))


def baseline_of(definition: str, solutions: Iterable[Solution], author: str) -> Solution:
    """Return the baseline author's one solution; none or several are an error."""
    own = [solution for solution in solutions if solution.author == author]
    if len(own) != 1:
        names = ", ".join(solution.name for solution in own)
        raise InvalidValue(
            f"{definition} has {len(own)} solutions by {author}{names and f': {names}'}",
            "a score needs one baseline; baseline_author= names another author",
        )
    return own[0]


def solution_score(mine: Latencies, baseline: Latencies) -> SpeedupMetrics | None:
    """Score a solution; 0 if it failed a workload, None if it shares none with the baseline."""
    if problem := mine.problem or baseline.problem:
        hint = "a score needs latencies above 0: fictl dataset validate names the line"
        raise InvalidValue(problem, hint)
    common = baseline.passed.keys() & mine.touched
    if not common:
        return None
    count = len(common)
    if mine.has_failed:
        return SpeedupMetrics(0.0, 1, count, 0.0, 0.0)
    ratios = [baseline.passed[uuid] / mine.passed[uuid] for uuid in sorted(common)]
    wins = sum(ratio > 1 for ratio in ratios)
    return SpeedupMetrics(sum(ratios) / count, 1, count, 1.0, wins / count)


def author_score(best: Mapping[str, tuple[str, SpeedupMetrics]]) -> SpeedupMetrics | None:
    """Average the scores in `best`, the author's best solution of each definition."""
    scores = [score for _, score in best.values()]
    if not scores:
        return None
    return SpeedupMetrics(
        avg_speedup=_mean([score.avg_speedup for score in scores]),
        definitions=len(scores),
        workloads=sum(score.workloads for score in scores),
        success_rate=_mean([score.success_rate for score in scores]),
        win_rate=_mean([score.win_rate for score in scores]),
        best_solutions={definition: name for definition, (name, _) in best.items()},
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
