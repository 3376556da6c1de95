"""DatasetReport: the results of a dataset, summarised."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fictl.dataset.readable import readable_traces
from fictl.dataset.report.clocks import apart
from fictl.dataset.report.numbers import FAST, best_by_task, distribution, fast
from fictl.dataset.report.result import Result
from fictl.dataset.report.standing import Author, Standing, authors, standings
from fictl.trace.dataset.chosen import is_chosen, require_known

if TYPE_CHECKING:
    from fictl.trace import TraceSet

_MOST_CAUSES = 50
_NUMBERS = re.compile(r"[-+]?\d[\d.]*(e[-+]?\d+)?")


@dataclass(frozen=True)
class Cause:
    """A kind of failure; `example` names one solution that failed this way."""

    status: str
    cause: str
    count: int
    solutions: int
    example: str

    @property
    def kind(self) -> tuple[str, str]:
        """Return what the failures that it counts have in common."""
        return self.status, _NUMBERS.sub("#", self.cause)


@dataclass(frozen=True)
class Report:
    """Summary of the last result of each solution on each workload and kind of hardware."""

    root: str
    results: tuple[Result, ...]
    statuses: Counter[str]
    best: tuple[Standing, ...]
    authors: tuple[Author, ...]
    causes: tuple[Cause, ...]
    fast: tuple[tuple[float, float], ...]
    distribution: tuple[tuple[float, float, int], ...]
    hardware: tuple[str, ...]
    untimed: int
    problems: tuple[str, ...]
    without: int

    @property
    def elsewhere(self) -> int:
        """Number of results from the emulated device or the CPU; their times mean nothing."""
        return sum(not result.is_of_gpu for result in self.results)

    def to_dict(self) -> dict[str, Any]:
        return {
            "root": self.root,
            "results": len(self.results),
            "statuses": dict(self.statuses),
            "hardware": list(self.hardware),
            "best": [standing.to_dict() for standing in self.best],
            "authors": [standing.to_dict() for standing in self.authors],
            "fast": {f"{factor:g}": share for factor, share in self.fast},
            "distribution": [
                {"from": low, "to": high, "count": count} for low, high, count in self.distribution
            ],
            "causes": [asdict(cause) for cause in self.causes],
            "untimed": self.untimed,
            "not_of_a_gpu": self.elsewhere,
            "definitions_without_results": self.without,
            "unreadable": list(self.problems),
        }


def report(
    dataset: TraceSet,
    definitions: Sequence[str] = (),
    op_types: Sequence[str] = (),
    hardware: Sequence[str] = (),
) -> Report:
    """Summarise a dataset; lines that cannot be read are listed and left out.

    Hardware may be a pattern, as in '*H200*'.
    """
    problems: list[str] = []
    every: set[str] = set()
    chosen_results: list[Result] = []
    for trace in readable_traces(dataset, None, lambda error: problems.append(error.message)):
        solution = dataset.get_solution(trace.solution or "")
        result = Result.of(trace, solution.author if solution else "unknown")
        if result is None:
            continue
        every.add(result.hardware)
        if not is_chosen(result.hardware, hardware):
            continue
        if _is_chosen(dataset, result.definition, definitions, op_types):
            chosen_results.append(result)
    results = tuple(_last(apart(chosen_results)))
    _require_known(dataset, definitions, op_types)
    require_known(hardware, every, "hardware")
    chosen = [n for n in dataset.definitions if _is_chosen(dataset, n, definitions, op_types)]
    return _of(
        dataset, results, problems, len({*chosen} - {result.definition for result in results})
    )


def _last(results: Sequence[Result]) -> Iterable[Result]:
    """Keep the last result of each: later lines of a file replace earlier ones."""
    return {
        (result.definition, result.solution, result.workload, result.hardware): result
        for result in results
    }.values()


def _of(
    dataset: TraceSet, results: tuple[Result, ...], problems: Sequence[str], without: int
) -> Report:
    # If there are results from GPUs, only these are compared.
    timed = [result for result in results if result.is_of_gpu] or results
    best = best_by_task(timed)
    passed = [result for result in results if result.passed]
    return Report(
        root=str(dataset.root),
        results=results,
        statuses=Counter(result.status for result in results),
        best=tuple(standings(timed)),
        authors=tuple(authors(timed)),
        causes=tuple(_causes(results)),
        fast=tuple((factor, fast(best, factor)) for factor in (0.0, *FAST)),
        distribution=tuple(distribution([result.speedup for result in passed if result.is_of_gpu])),
        hardware=tuple(sorted({result.hardware for result in results})),
        untimed=sum(not result.speedup for result in passed),
        problems=tuple(problems[:_MOST_CAUSES]),
        without=without,
    )


def _is_chosen(
    dataset: TraceSet, name: str, definitions: Sequence[str], op_types: Sequence[str]
) -> bool:
    definition = dataset.definitions.get(name)
    of_type = is_chosen(definition.op_type, op_types) if definition is not None else not op_types
    return of_type and is_chosen(name, definitions)


def _require_known(dataset: TraceSet, definitions: Sequence[str], op_types: Sequence[str]) -> None:
    stems = {path.stem for path in dataset.files.traces()}
    require_known(definitions, {*dataset.definitions, *stems}, "definition")
    types = {definition.op_type for definition in dataset.definitions.values()}
    require_known(op_types, types, "op type")


def kind_of(result: Result) -> tuple[str, str]:
    """Return what failures that count as one have in common."""
    return result.status, _NUMBERS.sub("#", result.cause)


def _causes(results: Sequence[Result]) -> list[Cause]:
    """The most frequent failures first; texts that differ only in numbers count as one."""
    by_cause: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if not result.passed:
            by_cause.setdefault(kind_of(result), []).append(result)
    causes = [
        Cause(
            among[0].status,
            among[0].cause,
            len(among),
            len({result.solution for result in among}),
            f"{among[0].solution} on {among[0].workload}",
        )
        for among in by_cause.values()
    ]
    return sorted(causes, key=lambda cause: (-cause.count, cause.status, cause.cause))[
        :_MOST_CAUSES
    ]
