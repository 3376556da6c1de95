"""Pairs of benchmark rows that belong together, with a verdict on each pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from fictl.bench.compare.outcome import Compared, Untimed
from fictl.bench.row import FAILED, WRONG, Row
from fictl.timing.verdict import Comparison, compare_rounds, compare_runs

Judge: TypeAlias = Callable[[Row, Row], Comparison]
Name: TypeAlias = Callable[[Row], str]


@dataclass(frozen=True)
class Pairs:
    """Compared cases, cases of one side only, and cases that one side was not timed on."""

    cases: tuple[Compared, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    untimed: tuple[Untimed, ...]


def pair(
    a: Iterable[Row], b: Iterable[Row], judge: Judge, name: Name, labels: tuple[str, str]
) -> Pairs:
    """Pair rows of the same op and name and judge each pair; `labels` name the two sides."""
    first, second = ({(row.op, name(row)): row for row in rows} for rows in (a, b))
    cases, untimed = [], []
    only: tuple[list[str], list[str]] = [], []
    for key in dict.fromkeys((*first, *second)):
        rows = first.get(key), second.get(key)
        if rows[0] and rows[1] and rows[0].samples and rows[1].samples:
            cases.append(_compared(rows[0], rows[1], key[1], judge))
            continue
        for side, row in enumerate(rows):
            if row and not row.samples:
                untimed.append(_untimed(row, key[1], labels[side], is_new=side == 1))
            elif row and not rows[1 - side]:
                only[side].append(key[1])
    return Pairs(tuple(cases), tuple(only[0]), tuple(only[1]), tuple(untimed))


def _untimed(row: Row, case: str, label: str, is_new: bool) -> Untimed:
    return Untimed(case, label, row.note or row.status, is_new and row.status in (WRONG, FAILED))


def of_one_run(threshold: float) -> Judge:
    """Return a judge for two sides of one run.

    Plans are compared as different runs, because their rounds are not paired.
    """

    def judge(a: Row, b: Row) -> Comparison:
        compare = compare_rounds if a.step == "run" else compare_runs
        return compare(a.samples, b.samples, threshold)

    return judge


def of_two_runs(threshold: float) -> Judge:
    return lambda a, b: compare_runs(a.samples, b.samples, threshold)


def case_name(row: Row) -> str:
    """Name a row's case: `scale-1024-float16`, with ` plan` appended if the plan was timed."""
    return row.case if row.step == "run" else f"{row.case} {row.step}"


def case_and_side(row: Row) -> str:
    """Name a row by case and side, for results that may have timed several backends."""
    return f"{case_name(row)} {row.backend}".rstrip()


def _compared(a: Row, b: Row, name: str, judge: Judge) -> Compared:
    assert a.median is not None
    assert b.median is not None
    joules = (a.joules, b.joules) if a.joules and b.joules else None
    return Compared(b.op, name, a.median, b.median, judge(a, b), joules)
