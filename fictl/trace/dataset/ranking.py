"""Ranking of authors against the references, without a baseline solution."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fictl.trace.dataset.speedup_metrics import SpeedupMetrics
from fictl.trace.documents.record import Trace


@dataclass(frozen=True)
class AuthorScore:
    """Score over the workloads of an author's solutions, the best of each.

    A workload that none of them passed has a speedup of 0. A win is the best of all authors.
    """

    author: str
    avg_speedup: float
    win_rate: float
    success_rate: float
    definitions: int
    workloads: int


@dataclass(frozen=True)
class TraceSetSummary:
    """Counts of all traces, and flashinfer-bench's ranking."""

    total: int
    passed: int
    failed: int
    rankings: list[tuple[str, SpeedupMetrics]]
    by_status: dict[str, int]


def is_within(trace: Trace, atol: float, rtol: float) -> bool:
    """Tell whether a trace passed with errors within these tolerances."""
    correctness = trace.evaluation.correctness if trace.evaluation else None
    return (
        trace.is_successful()
        and correctness is not None
        and correctness.max_absolute_error <= atol
        and correctness.max_relative_error <= rtol
    )


def speedup(trace: Trace) -> float:
    """Speedup of a trace; 0 if it did not pass."""
    performance = trace.evaluation.performance if trace.evaluation else None
    return performance.speedup_factor if performance and trace.is_successful() else 0.0


def rank(traces: Iterable[tuple[str, Trace]]) -> list[AuthorScore]:
    return _scores(_best(traces))


# By (definition, workload), then by author.
_Best = dict[tuple[str, str], dict[str, float]]


def _best(traces: Iterable[tuple[str, Trace]]) -> _Best:
    best: _Best = {}
    for author, trace in traces:
        if trace.evaluation is None:
            continue
        authors = best.setdefault((trace.definition, trace.workload.uuid), {})
        authors[author] = max(speedup(trace), authors.get(author, 0.0))
    return best


def _scores(best: _Best) -> list[AuthorScore]:
    names = {author for authors in best.values() for author in authors}
    return sorted((_score(name, best) for name in names), key=lambda s: (-s.avg_speedup, s.author))


def _score(author: str, best: _Best) -> AuthorScore:
    mine = {key: authors for key, authors in best.items() if author in authors}
    speedups = [authors[author] for authors in mine.values()]
    passed = [speedup for speedup in speedups if speedup > 0]
    wins = [a for a in mine.values() if a[author] > 0 and a[author] == max(a.values())]
    return AuthorScore(
        author=author,
        avg_speedup=sum(speedups) / len(mine),
        win_rate=len(wins) / len(mine),
        success_rate=len(passed) / len(mine),
        definitions=len({definition for definition, _ in mine}),
        workloads=len(mine),
    )
