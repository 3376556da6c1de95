"""Comparison of two results of `fictl bench`, or of a fresh one with a project's baselines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from fictl.bench.bench_ops import bench
from fictl.bench.compare.conditions import differences, require_alike, where
from fictl.bench.compare.outcome import CompareOutcome
from fictl.bench.compare.pairs import case_and_side, of_two_runs, pair
from fictl.bench.observer import BenchObserver
from fictl.bench.options import BenchOptions
from fictl.bench.result import BenchReport, load
from fictl.bench.row import Row
from fictl.bench.stored import FOLDER
from fictl.errors import SetupError
from fictl.paths import friendly, matching
from fictl.project import Project, select
from fictl.timing.verdict import RUN_TO_RUN

_MAKE = "fictl bench OP --save makes one, for this GPU"


def compare_files(a: Path, b: Path, threshold: float, force: bool = False) -> CompareOutcome:
    """Compare two files; different conditions are refused or, with `force`, noted."""
    return compare_reports(load(a), load(b), (friendly(a), friendly(b)), threshold, force)


def compare_reports(
    a: BenchReport, b: BenchReport, labels: tuple[str, str], threshold: float, force: bool = False
) -> CompareOutcome:
    if not force:
        require_alike(a, b, labels)
    pairs = pair(_own(a), _own(b), of_two_runs(threshold), case_and_side, labels)
    forced = [f"by force: {what}" for what in differences(a, b)]
    doubts = [
        f"{label}: {warning}"
        for label, report in zip(labels, (a, b), strict=True)
        for warning in report.environment.warnings
    ]
    notes = (*forced, *doubts, *_updates(a, b))
    return CompareOutcome(
        *labels,
        f"different runs: {RUN_TO_RUN:.0%} more is not a difference",
        where(b.environment),
        threshold,
        pairs.cases,
        pairs.only_a,
        pairs.only_b,
        pairs.untimed,
        notes,
    )


def stored(projects: Iterable[Project]) -> list[tuple[Path, BenchReport]]:
    """Load every baseline of the projects; if there are none, raise an error that says how to make
    one.
    """
    folders = [project.root / FOLDER for project in projects]
    paths = [path for folder in folders for path in matching(folder, "*/*.json")]
    if not paths:
        places = ", ".join(friendly(folder) for folder in folders)
        raise SetupError(f"there is no baseline in {places}", _MAKE)
    return [(path, load(path)) for path in paths]


def compare_baseline(
    ops: Sequence[str],
    threshold: float,
    options: BenchOptions,
    observer: BenchObserver,
    force: bool = False,
) -> CompareOutcome:
    """Run a benchmark and compare it with the baselines of the ops' projects."""
    folders = select(ops, [] if ops else [Project.at()])
    kept = stored(dict.fromkeys(folder.project for folder in folders))
    fresh = bench(ops, options, observer)
    outcome = compare_with_stored(fresh, kept, threshold, force)
    # A filter leaves out cases, which are therefore not missing.
    return replace(outcome, only_a=()) if options.case or options.dtype else outcome


def compare_with_stored(
    fresh: BenchReport,
    kept: Sequence[tuple[Path, BenchReport]],
    threshold: float,
    force: bool = False,
) -> CompareOutcome:
    """Compare with baselines of this GPU and clock; with `force`, of other clocks if none fit."""
    here = [report for _, report in kept if report.environment.gpu == fresh.environment.gpu]
    alike = [report for report in here if not _machine(report, fresh)] or (here if force else [])
    ops = {row.op for row in fresh.rows}
    rows = tuple(row for report in alike for row in report.rows if row.op in ops)
    if not rows:
        others = ", ".join(dict.fromkeys(friendly(path) for path, _ in kept))
        raise SetupError(
            f"there is no baseline of {', '.join(sorted(ops))} for {where(fresh.environment)}; "
            f"there are {others}",
            _MAKE,
        )
    old = replace(alike[0], rows=rows)
    return compare_reports(old, fresh, ("baseline", "now"), threshold, force)


def _machine(a: BenchReport, b: BenchReport) -> list[str]:
    """List the differences between the machines of two results, ignoring the rows."""
    return list(differences(replace(a, rows=()), replace(b, rows=())))


def _own(report: BenchReport) -> list[Row]:
    """Leave out baseline rows, which are not judged."""
    return [row for row in report.rows if not row.is_baseline]


def _updates(a: BenchReport, b: BenchReport) -> Iterable[str]:
    """List changes of versions and driver that may explain a difference."""
    for name in ("fictl", "torch", "cuda"):
        old, new = getattr(a.environment, name), getattr(b.environment, name)
        if old != new:
            yield f"{name} was {old or 'unknown'}, and is {new or 'unknown'}"
    old, new = ((report.environment.before or {}).get("driver", "") for report in (a, b))
    if old != new:
        yield f"the driver was {old or 'unknown'}, and is {new or 'unknown'}"
