"""Comparison of two sides of one run: backends of an op, or the op and one of its baselines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fictl.bench.bench_ops import bench
from fictl.bench.compare.conditions import where
from fictl.bench.compare.outcome import CompareOutcome, Untimed
from fictl.bench.compare.pairs import case_name, of_one_run, pair
from fictl.bench.observer import BenchObserver
from fictl.bench.options import DEFAULTS, BenchOptions
from fictl.bench.result import BenchReport
from fictl.bench.row import FAILED, WRONG, Row
from fictl.case.contender import OURS
from fictl.errors import UsageError
from fictl.project import Project, select

INTERLEAVED = "interleaved in one run"


def compare_sides(
    ops: Sequence[str],
    a: str,
    b: str,
    threshold: float,
    options: BenchOptions = DEFAULTS,
    observer: BenchObserver | None = None,
) -> CompareOutcome:
    """Benchmark and compare two sides: backends, baselines, or 'fictl' for the op's own choice."""
    wanted = [side for side in (a, b) if side != OURS]
    backends = tuple(side for side in wanted if side in declared_backends(ops))
    if backends and OURS in (a, b):
        raise UsageError(
            f"{OURS} is whichever backend is chosen, maybe {backends[0]} itself",
            "compare two backends by their names",
        )
    baselines = tuple(side for side in wanted if side not in backends)
    asked = replace(options, backends=backends, baselines=baselines)
    return compare_in(bench(ops, asked, observer), a, b, threshold)


def compare_in(report: BenchReport, a: str, b: str, threshold: float) -> CompareOutcome:
    """Compare two sides of a report, given by name."""
    first, second = ([row for row in report.rows if row.side == side] for side in (a, b))
    pairs = pair(first, second, of_one_run(threshold), case_name, (a, b))
    lost = [row for row in report.rows if row.side not in (a, b) and not row.samples]
    return CompareOutcome(
        a,
        b,
        INTERLEAVED,
        where(report.environment),
        threshold,
        pairs.cases,
        pairs.only_a,
        pairs.only_b,
        (*pairs.untimed, *map(_lost, lost)),
        (*report.environment.warnings, *_off(first), *_off(second)),
    )


def _off(rows: Sequence[Row]) -> Iterator[str]:
    """Say of a baseline how far its results are from those that the op's tests accept."""
    most = max((row.off for row in rows), default=0.0)
    if most:
        yield f"{rows[0].side} is off by up to {most:.2g}x what the op's tests allow"


def _lost(row: Row) -> Untimed:
    """Note a row lost to a fault or hang, which ends both sides and is reported for the op."""
    return Untimed(case_name(row), row.side, row.note, row.status in (WRONG, FAILED))


def declared_backends(ops: Sequence[str]) -> set[str]:
    """List the backends of the named ops, or of all ops here, without importing them."""
    folders = select(ops, [] if ops else [Project.at()])
    return {
        name
        for folder in folders
        for declaration in folder.declarations()
        for name in declaration.backends
    }
