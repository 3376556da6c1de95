"""Two git revisions of a project, built beside each other and timed interleaved in one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fictl.bench.compare.measured import Request, measured
from fictl.bench.compare.one_run import compare_in
from fictl.bench.compare.outcome import Outcome
from fictl.bench.observer import Observer
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
    observer: Observer | None = None,
) -> Outcome:
    """The fictl that runs them is this one; kernels, launchers and Python of the ops are theirs."""
    project = project_of(ops)
    # A checkout has another name than its project.
    names = [op.removeprefix(f"{project.name}/") for op in ops]
    with checkout(project, a) as old, checkout(project, b) as new:
        if old.project.package == new.project.package:
            raise UsageError(f"{a} and {b} are the same", "one of them may be '.', what lies here")
        had = _functions(old.project)
        wanted = {name: f for f in select(names, [new.project]) for name in functions(f, names)}
        requests = list(_requests(project, old, new, had, wanted))
        if not requests:
            raise UsageError(
                f"{old.label} and {new.label} have none of the functions in common",
                f"{new.label} has {', '.join(sorted(wanted)) or 'none'}",
            )
        report = measured(requests, options, observer or Observer())
        gone = set() if ops else {*had} - {*wanted}
    outcome = compare_in(report, old.label, new.label, threshold)
    return replace(
        outcome,
        only_a=(*sorted(gone), *outcome.only_a),
        only_b=(*sorted({*wanted} - {*had}), *outcome.only_b),
    )


def _functions(project: Project) -> dict[str, OpFolder]:
    return {declared.name: folder for folder, declared in discover.functions(project)}


def _requests(
    project: Project,
    old: Checkout,
    new: Checkout,
    had: dict[str, OpFolder],
    wanted: dict[str, OpFolder],
) -> Iterator[Request]:
    """One for each op folder; a function that has moved since is still the same function."""
    places: dict[tuple[OpFolder, OpFolder], list[str]] = {}
    for name in sorted(wanted):
        if name in had:
            places.setdefault((wanted[name], had[name]), []).append(name)
    for (now, before), names in places.items():
        sides = {new.label: str(now.op), old.label: str(before.op)}
        yield Request(f"{project.name}/{now.family}/{now.module}", sides, tuple(names))
