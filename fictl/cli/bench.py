"""fictl bench: how long ops take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from fictl.cli import console
from fictl.cli._bench import options as flags
from fictl.cli.gpu_use import Wait, alone
from fictl.cli.on_places import refuse_with_on, spread_ops
from fictl.cli.options import Device, DryRun, Json, Locked, On, Ops, Verbose, use_device
from fictl.errors import FictlError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.cli._bench.measured import BenchOutcome
    from fictl.cli._bench.request import BenchLine


# Files hold the result of one machine, or are read on this one.
_OF_ONE_MACHINE = {"save", "out", "csv", "jsonl", "plot", "test_list"}
EXAMPLES = {
    "fictl bench rmsnorm --baseline torch": "beside eager torch",
    "fictl bench rmsnorm --axis hidden_size=1024:8192:*2 --plot sweep.html": "over sizes, drawn",
    "fictl bench my.cu --tensor x=4096x4096:bfloat16 --scalar factor=2.0": "the launchers of one file",
}


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
    power: flags.Power = False,
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
    gpus: flags.Gpus = None,
    device: Device = "",
    wait: Wait = None,
    on: On = "",
    dry_run: DryRun = False,
    verbose: Verbose = False,
    locked: Locked = False,
    json: Json = False,
) -> None:
    """Benchmark ops, or the launchers of one .cu file, beside their baselines.

    Results are checked before and after timing. L2 is cold unless --warm is given.
    """
    from fictl.cli._bench.list_file import requests_of
    from fictl.cli._bench.measured import ranks_of, run
    from fictl.cli._bench.outputs import BenchOutputs
    from fictl.cli._bench.request import BenchLine

    use_device(device)
    outputs = BenchOutputs.of(context.params)
    requests, unread = (
        requests_of(test_list, command) if test_list else ([BenchLine.of(context.params)], [])
    )
    if dry_run:
        console.show(_plan(requests, unread))
    elif on:
        refuse_with_on(context, _OF_ONE_MACHINE)
        console.show(_spread(context, requests[0], on, verbose, json))
    else:
        with alone(wait, ranks=ranks_of(requests)) as held:
            outcome = run(requests, unread, outputs, json, held)
        console.show(_measured(outcome, verbose))


def _spread(
    context: typer.Context, request: BenchLine, on: str, verbose: bool, quiet: bool
) -> console.Result:
    """Bench each op at one of the places, its baselines beside it."""
    from fictl import settings
    from fictl.cli._bench.table import show_report
    from fictl.farm.spread.merged import benches, differing_clocks, errors_of

    device = settings.DEVICE.get()
    if request.file is not None:
        raise UsageError("--on is for ops of a project, and this is a file", "bench it here")
    results = spread_ops(
        context,
        ("bench",),
        request.folders(),
        on,
        device=device,
        own={"device"},
        words=("--device", device),
        quiet=quiet,
        gpus=request.options.gpus,
    )
    placed, errors = benches(results.results), errors_of(results)

    def view(out: Console) -> None:
        for one in placed:
            out.print(f"[bold]{one.place}[/]")
            show_report(out, one.report, (), verbose)
        if differing:
            out.print(f"! clocked differently: {differing}", markup=False, soft_wrap=True)
        for error in errors:
            console.problem(error)

    differing = differing_clocks(placed)
    codes = [one.report.exit_code for one in placed] + [error.exit_code for error in errors]
    rows = [row for one in placed for row in one.to_dict()["rows"]]
    environments = {one.place: one.to_dict()["environment"] for one in placed}
    data = {"environments": environments, "rows": rows, "left_out": [*results.left_out]}
    return console.Result(data, view, max(codes, default=0), next(iter(errors), None))


def _plan(requests: Sequence[BenchLine], errors: Sequence[FictlError]) -> console.Result:
    plans = [plan for request in requests for plan in request.plans()]
    view = console.Table(
        ("case", "sides", "bytes"),
        [(plan.case, " ".join(plan.sides), plan.spelled_bytes) for plan in plans],
    )
    return console.Result.among(errors, [plan.to_dict() for plan in plans], view)


def _measured(outcome: BenchOutcome, verbose: bool) -> console.Result:
    from fictl.cli._bench.table import show_report

    document = outcome.report.to_dict()
    data = {name: value for name, value in document.items() if name != "schema"}

    def view(out: Console) -> None:
        show_report(out, outcome.report, outcome.written, verbose)
        for error in outcome.errors:
            console.problem(error)

    first_error = next(iter(outcome.errors), None)
    return console.Result(data, view, outcome.exit_code, first_error)
