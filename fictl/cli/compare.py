"""fictl compare: what is faster, and whether that can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.bench import options as flags
from fictl.cli.options import Device, Json, use_device
from fictl.errors import InvalidValue, UsageError
from fictl.quantity import parse_number

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.bench.compare.outcome import Compared, CompareOutcome

_STYLES = {"SAME": "dim", "FASTER": "green", "SLOWER": "bold red", "UNCLEAR": "yellow"}


def command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="A B",
            help="Two results, git revisions (also A..B; '.' is what lies here), backends, baselines.",
            show_default=False,
        ),
    ] = None,
    ops: Annotated[
        list[str] | None,
        typer.Option("--op", metavar="OP", help="Only these ops, families, functions; repeatable."),
    ] = None,
    baseline: Annotated[
        bool,
        typer.Option("--baseline", help="With what the project keeps: fictl bench --save."),
    ] = False,
    threshold: Annotated[
        str,
        typer.Option("--threshold", help="What counts as a difference: '1%' or 0.01."),
    ] = "1%",
    case: flags.Case = "",
    dtype: flags.Dtype = "",
    timer: flags.Timer = "auto",
    warm: flags.Warm = False,
    rounds: flags.Rounds = 0,
    force: Annotated[
        bool, typer.Option("--force", help="Compare results of different GPUs, clocks, timers.")
    ] = False,
    device: Device = "",
    json: Json = False,
) -> None:
    """Say of every case whether B is the SAME as A, FASTER, SLOWER, or whether that is UNCLEAR.

    Revisions, backends and baselines are timed interleaved, in one run. Exit code 1 on SLOWER.
    """
    from fictl.bench.compare.dispatch import compare_two
    from fictl.bench.compare.results import compare_baseline
    from fictl.bench.options import BenchOptions
    from fictl.cli.bench.progress import BenchProgress

    use_device(device)
    options = BenchOptions(dtype=dtype, case=case, timer=timer, cold=not warm, rounds=rounds)
    limit = _share(threshold)
    if baseline and what:
        raise UsageError(
            f"--baseline compares what lies here with what is kept, not with {what[0]}",
            "leave one of them out",
        )
    with BenchProgress(json) as progress:
        if baseline:
            outcome = compare_baseline(ops or [], limit, options, progress, force)
        else:
            outcome = compare_two(what or [], ops or [], limit, options, progress, force)
    data = outcome.to_dict()
    console.show(
        console.Result("compare", data, lambda out: _view(out, outcome), outcome.exit_code)
    )


def _share(text: str) -> float:
    """`1%` or `0.01`."""
    number = text.strip().removesuffix("%")
    try:
        value = parse_number(number.strip(), 0, 100) / (100 if "%" in text else 1)
    except InvalidValue:
        value = 0.0
    if not 0 < value < 1:
        raise InvalidValue(f"--threshold {text!r} is no share", "as in '1%' or 0.01")
    return value


def _view(out: Console, outcome: CompareOutcome) -> None:
    out.print(
        f"{outcome.a} → {outcome.b} · {outcome.where} · {outcome.how} · "
        f"threshold {outcome.threshold:.1%}",
        markup=False,
        soft_wrap=True,
    )
    if outcome.cases:
        rows = [_row(each) for each in outcome.cases]
        columns = ("case", outcome.a, outcome.b, "B / A", "95 % interval", "verdict")
        console.print_table(console.Table(columns, rows, _STYLES))
    for name, label in ((outcome.only_a, outcome.a), (outcome.only_b, outcome.b)):
        for case in name:
            out.print(f"  only {label} has {case}", markup=False, soft_wrap=True)
    for each in outcome.untimed:
        out.print(f"  {each.case}: {each.who}: {each.why}", markup=False, soft_wrap=True)
    for text in outcome.notes:
        out.print(f"  note: {text}", markup=False, soft_wrap=True)
    out.print(_summary(outcome))


def _row(each: Compared) -> tuple[str, ...]:
    found = each.comparison
    advice = f"  {found.advice}" if found.advice else ""
    return (
        each.case,
        f"{each.a * 1e6:.2f} us",
        f"{each.b * 1e6:.2f} us",
        f"{found.ratio:.3f}x",
        f"{found.low:.3f} .. {found.high:.3f}",
        f"{found.verdict.value}{advice}",
    )


def _summary(outcome: CompareOutcome) -> str:
    mark = {0: "[green]✓[/]", 1: "[red]✗[/]", 3: "[yellow]![/]"}[outcome.exit_code]
    count = len(outcome.cases)
    counts = " · ".join(f"{number} {verdict}" for verdict, number in outcome.counts.items())
    return f"{mark} {count} case{'' if count == 1 else 's'}: {counts or 'nothing in common'}"
