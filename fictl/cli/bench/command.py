"""fictl bench: how long ops take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fictl.cli import console
from fictl.cli.bench import options as flags
from fictl.cli.options import Device, DryRun, Json, Ops, Verbose, use_device
from fictl.errors import FictlError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.bench.result import BenchReport
    from fictl.cli.bench.request import Request


def command(
    context: typer.Context,
    ops: Ops = None,
    baseline: flags.Baseline = "",
    backend: flags.Backend = "",
    dtype: flags.Dtype = "",
    case: flags.Case = "",
    axis: flags.Axes = None,
    timer: flags.Timer = "auto",
    warm: flags.Warm = False,
    rounds: flags.Rounds = 0,
    stdrel: flags.Stdrel = 0.003,
    max_time: flags.MaxTime = 2.0,
    refcheck: flags.Refcheck = True,
    seed: flags.Seed = 0,
    timeout: flags.Timeout = 600.0,
    tensor: flags.Tensors = None,
    scalar: flags.Scalars = None,
    test_list: flags.List = None,
    save: flags.Save = False,
    out: flags.Out = None,
    csv: flags.Csv = None,
    jsonl: flags.Jsonl = None,
    plot: flags.Plot = None,
    device: Device = "",
    dry_run: DryRun = False,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Time ops, or the launchers of one .cu file, beside their baselines.

    Results are checked before they are timed, and after. L2 is cold unless --warm.
    """
    from fictl.cli.bench.list import requests_of
    from fictl.cli.bench.request import Request

    use_device(device)
    if plot is not None:
        from fictl.bench.plot.draw import require_kind

        require_kind(plot)
    asked, errors = requests_of(test_list, command) if test_list else ([], [])
    if test_list is None:
        asked.append(Request.of(context.params))
    if dry_run:
        _plan(asked, errors)
        return
    report = _measured(asked, errors, quiet=json)
    if report is None:
        raise errors[0]
    written = _written(report, asked, save, {".json": out, ".csv": csv, ".jsonl": jsonl})
    if plot is not None:
        from fictl.bench.plot.draw import draw

        written.append(draw(report, plot))
    _show(report, errors, written, verbose)


def _plan(asked: Sequence[Request], errors: Sequence[FictlError]) -> None:
    from fictl.bench.planned import Planned

    plans: list[Planned] = [plan for request in asked for plan in request.plans()]
    view = console.Table(
        ("case", "sides", "bytes"),
        [(plan.case, " ".join(plan.sides), plan.spelled_bytes) for plan in plans],
    )
    data = [plan.to_dict() for plan in plans]
    console.show(console.Result.among(errors, "bench", data, view))


def _measured(
    asked: Sequence[Request], errors: list[FictlError], quiet: bool
) -> BenchReport | None:
    """Of all requests together; None where each of them is an error."""
    from fictl.bench.result import joined
    from fictl.cli.bench.progress import BenchProgress

    reports = []
    with BenchProgress(quiet) as progress:
        for request in asked:
            try:
                reports.append(request.run(progress))
            except FictlError as error:
                errors.append(request.located(error))
    return joined(reports) if reports else None


def _written(
    report: BenchReport, asked: Sequence[Request], save: bool, paths: dict[str, Path | None]
) -> list[Path]:
    from fictl.bench import export, result, stored

    written = []
    if save:
        folders = dict.fromkeys(folder for request in asked for folder in request.folders())
        written += stored.store(report, tuple(folders))
    writers = {".json": result.save, ".csv": export.write_csv, ".jsonl": export.write_jsonl}
    for kind, path in paths.items():
        if path is not None:
            writers[kind](report, path)
            written.append(path)
    return written


def _show(
    report: BenchReport, errors: Sequence[FictlError], written: Sequence[Path], verbose: bool
) -> None:
    from fictl.cli.bench.table import show_report

    data = {name: value for name, value in report.to_dict().items() if name != "schema"}
    code = max([report.exit_code, *(error.exit_code for error in errors)])
    error = errors[0] if errors else None

    def view(out: Console) -> None:
        show_report(out, report, written, verbose)
        for each in errors:
            console.problem(each)

    console.show(console.Result("bench", data, view, code, error))
