"""fictl bench: how long ops take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from fictl.cli import console
from fictl.cli._bench import options as flags
from fictl.cli.gpu_use import Wait, alone
from fictl.cli.options import Device, DryRun, Json, Locked, Ops, Verbose, use_device
from fictl.errors import FictlError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.cli._bench.measured import BenchOutcome
    from fictl.cli._bench.request import BenchLine


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
    device: Device = "",
    wait: Wait = None,
    dry_run: DryRun = False,
    verbose: Verbose = False,
    locked: Locked = False,
    json: Json = False,
) -> None:
    """Benchmark ops, or the launchers of one .cu file, beside their baselines.

    Results are checked before and after timing. L2 is cold unless --warm is given.
    """
    from fictl.cli._bench.list_file import requests_of
    from fictl.cli._bench.measured import run
    from fictl.cli._bench.outputs import BenchOutputs
    from fictl.cli._bench.request import BenchLine

    use_device(device)
    outputs = BenchOutputs.of(context.params)
    requests, unread = (
        requests_of(test_list, command) if test_list else ([BenchLine.of(context.params)], [])
    )
    if dry_run:
        console.show(_plan(requests, unread))
    else:
        with alone(wait):
            outcome = run(requests, unread, outputs, quiet=json)
        console.show(_measured(outcome, verbose))


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
