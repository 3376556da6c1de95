"""Two git revisions of a project, built separately and timed interleaved in one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fictl import settings
from fictl.bench.bench_ops import Measurement, measure
from fictl.bench.compare.outcome import CompareOutcome
from fictl.bench.compare.sides import compare_in
from fictl.bench.messages import RevisionsRequest
from fictl.bench.observer import BenchObserver
from fictl.bench.options import DEFAULTS, BenchOptions
from fictl.case.selection import functions
from fictl.errors import UsageError
from fictl.project import OpFolder, Project, discover, select
from fictl.project.revision import Checkout, checkout, project_of


def compare_revisions(
    ops: Sequence[str],
    a: str,
    b: str,
    threshold: float,
    options: BenchOptions = DEFAULTS,
    observer: BenchObserver | None = None,
) -> CompareOutcome:
    """Compare ops of two revisions: both run on this fictl, with their own kernels and Python."""
    project = project_of(ops)
    # A checkout's name differs from the project's.
    names = [op.removeprefix(f"{project.name}/") for op in ops]
    with checkout(project, a) as old, checkout(project, b) as new:
        if old.project.package == new.project.package:
            raise UsageError(f"{a} and {b} are the same", "one of them may be '.', what lies here")
        had = _functions(old.project)
        wanted = {name: f for f in select(names, [new.project]) for name in functions(f, names)}
        jobs = list(_jobs(project, old, new, had, wanted, options))
        if not jobs:
            raise UsageError(
                f"{old.label} and {new.label} have none of the functions in common",
                f"{new.label} has {', '.join(sorted(wanted)) or 'none'}",
            )
        report = measure(jobs, observer or BenchObserver())
        gone = set() if ops else {*had} - {*wanted}
    outcome = compare_in(report, old.label, new.label, threshold)
    return replace(
        outcome,
        only_a=(*sorted(gone), *outcome.only_a),
        only_b=(*sorted({*wanted} - {*had}), *outcome.only_b),
    )


def _functions(project: Project) -> dict[str, OpFolder]:
    return {declared.name: folder for folder, declared in discover.functions(project)}


def _jobs(
    project: Project,
    old: Checkout,
    new: Checkout,
    had: dict[str, OpFolder],
    wanted: dict[str, OpFolder],
    options: BenchOptions,
) -> Iterator[Measurement]:
    """Yield a job for each op folder; a function that has moved since is still matched."""
    places: dict[tuple[OpFolder, OpFolder], list[str]] = {}
    for name in sorted(wanted):
        if name in had:
            places.setdefault((wanted[name], had[name]), []).append(name)
    for (now, before), names in places.items():
        op = f"{project.name}/{now.family}/{now.module}"
        sides = {new.label: now.op, old.label: before.op}
        device = settings.DEVICE.get()
        yield Measurement(op, RevisionsRequest(op, sides, tuple(names), device, options))
