"""Standings of solutions and authors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fictl.dataset.report.numbers import FAST, best_by_task, fast, mean
from fictl.dataset.report.result import Result


@dataclass(frozen=True)
class Standing:
    """The best solution of a definition: passes the most workloads, and is the fastest of these."""

    definition: str
    solution: str
    author: str
    passed: int
    workloads: int
    speedup: float
    slowest: float
    fastest: float
    solutions: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Author:
    """Results of an author: the best of the author's solutions on each of their workloads.

    A win is a workload on which no other author is faster.
    """

    author: str
    solutions: int
    workloads: int
    passed: float
    speedup: float
    wins: float
    fast: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "fast": dict(zip(map(str, FAST), self.fast, strict=True))}


def standings(results: Iterable[Result]) -> list[Standing]:
    """Standings, one for each definition with results; `solution` is '' if none has passed."""
    by_definition: dict[str, dict[str, list[Result]]] = {}
    for result in results:
        among = by_definition.setdefault(result.definition, {})
        among.setdefault(result.solution, []).append(result)
    return [_best(name, among) for name, among in sorted(by_definition.items())]


def authors(results: Sequence[Result]) -> list[Author]:
    """Authors, the best first."""
    by_author: dict[str, list[Result]] = {}
    for result in results:
        by_author.setdefault(result.author, []).append(result)
    top = best_by_task(results)
    scored = [_author(name, mine, top) for name, mine in by_author.items()]
    return sorted(
        scored, key=lambda author: (-author.fast[0], -author.speedup, -author.passed, author.author)
    )


def _best(definition: str, among: dict[str, list[Result]]) -> Standing:
    ranked = sorted(among, key=lambda name: (-_passed(among[name]), -_speed(among[name]), name))
    results = among[ranked[0]]
    count, speeds = _passed(results), [result.speedup for result in results if result.speedup > 0]
    return Standing(
        definition,
        ranked[0] if count else "",
        results[0].author if count else "",
        count,
        len({result.task for result in results}),
        _speed(results),
        min(speeds, default=0.0),
        max(speeds, default=0.0),
        len(among),
    )


def _author(name: str, mine: Sequence[Result], top: dict[tuple[str, str], float]) -> Author:
    best = best_by_task(mine)
    passed = {result.task for result in mine if result.passed}
    wins = sum(speed > 0 and speed >= top[task] for task, speed in best.items())
    return Author(
        name,
        len({result.solution for result in mine}),
        len(best),
        len(passed) / len(best),
        mean(best.values()),
        wins / len(best),
        tuple(fast(best, factor) for factor in FAST),
    )


def _passed(results: Iterable[Result]) -> int:
    return len({result.task for result in results if result.passed})


def _speed(results: Iterable[Result]) -> float:
    return mean(result.speedup for result in results if result.passed)
