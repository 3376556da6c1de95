"""Scores, as flashinfer-bench's get_solution_score, get_author_score and rank_authors return them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Protocol

from fictl.errors import InvalidValue
from fictl.trace.dataset.chosen import nearest
from fictl.trace.dataset.speedup_metrics import (
    Latencies,
    SpeedupMetrics,
    author_score,
    baseline_of,
    solution_score,
)
from fictl.trace.documents.definition import Definition
from fictl.trace.documents.record import Trace
from fictl.trace.documents.solution import Solution


class ScoredDataset(Protocol):
    """The parts of a dataset that scores are computed from."""

    @property
    def definitions(self) -> Mapping[str, Definition]: ...

    @property
    def solutions(self) -> Mapping[str, Sequence[Solution]]: ...

    def get_solution(self, name: str) -> Solution | None: ...

    def traces(self) -> Iterator[Trace]: ...


class UnknownDefinition(InvalidValue, KeyError):
    """Also a KeyError, as flashinfer-bench raises it."""

    __str__ = InvalidValue.__str__


class Scores:
    """Scores against one author's solutions. The traces are read once."""

    def __init__(self, dataset: ScoredDataset, baseline_author: str) -> None:
        self._dataset, self._baseline = dataset, baseline_author

    def of_solution(self, name: str) -> SpeedupMetrics | None:
        solution = self._dataset.get_solution(name)
        if solution is None:
            return None
        among = self._dataset.solutions[solution.definition]
        baseline = baseline_of(solution.definition, among, self._baseline)
        if baseline.name == name:
            return None
        nothing = Latencies()
        mine, its = (
            self._latencies.get(solution_name, nothing) for solution_name in (name, baseline.name)
        )
        return solution_score(mine, its)

    def of_author(
        self, author: str, op_type: str | None = None, definition: str | None = None
    ) -> SpeedupMetrics | None:
        best = {}
        for name in self._definitions(op_type, definition):
            scored = [
                (solution.name, score)
                for solution in self._dataset.solutions.get(name, ())
                if solution.author == author and (score := self.of_solution(solution.name))
            ]
            if scored:
                best[name] = max(scored, key=lambda named: named[1].avg_speedup)
        return author_score(best)

    def ranking(
        self, op_type: str | None = None, definition: str | None = None
    ) -> list[tuple[str, SpeedupMetrics]]:
        """Authors with their scores, the best first; authors without a score are left out."""
        solutions = self._dataset.solutions
        chosen = [*self._definitions(op_type, definition)]
        authors = {solution.author for name in chosen for solution in solutions.get(name, ())}
        scored = [(author, self.of_author(author, op_type, definition)) for author in authors]
        scores = [(author, score) for author, score in scored if score is not None]
        return sorted(scores, key=lambda solution: (-solution[1].avg_speedup, solution[0]))

    def _definitions(self, op_type: str | None, definition: str | None) -> Iterator[str]:
        definitions = self._dataset.definitions
        if op_type is not None and definition is not None:
            raise InvalidValue("op_type and definition_name exclude each other", "give one of them")
        if definition is not None and definition not in definitions:
            raise UnknownDefinition(
                f"there is no definition {definition!r}", nearest(definition, definitions)
            )
        for name, known in definitions.items():
            if definition in (None, name) and op_type in (None, known.op_type):
                yield name

    @cached_property
    def _latencies(self) -> dict[str, Latencies]:
        """Latencies by solution."""
        latencies: dict[str, Latencies] = {}
        for trace in self._dataset.traces():
            if trace.solution is not None:
                latencies.setdefault(trace.solution, Latencies()).add(trace)
        return latencies
