"""fictl compare: what is faster, and whether that can be told."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli._bench import options as flags
from fictl.cli._bench.compared_at import compared_at
from fictl.cli.gpu_use import Wait, alone
from fictl.cli.on_places import refuse_with_on
from fictl.cli.options import Device, Json, On, use_device
from fictl.cli.outputs import writes_files_and_folders
from fictl.cli.shares import share
from fictl.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.bench.compare.outcome import Compared, CompareOutcome

_STYLES = {"SAME": "dim", "FASTER": "green", "SLOWER": "bold red", "UNCLEAR": "yellow"}


EXAMPLES = {
    "fictl compare HEAD~3 HEAD --op rmsnorm": "two revisions, in the same rounds",
    "fictl compare before.json after.json --threshold 2%": "two results of fictl bench --out",
    "fictl compare main . --fail-on slower,unclear,missing --out comment.md": "a gate, and a comment",
}


def command(
    context: typer.Context,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="A B",
            help="Two results, git revisions (A..B too; '.' is the working tree), backends or baselines.",
            show_default=False,
        ),
    ] = None,
    ops: Annotated[
        list[str] | None,
        typer.Option(
            "--op", metavar="OP", help="Compare only this op, family or function; repeatable."
        ),
    ] = None,
    baseline: Annotated[
        bool,
        typer.Option(
            "--baseline", help="Compare with the project's stored baseline (fictl bench --save)."
        ),
    ] = False,
    threshold: Annotated[
        str,
        typer.Option(
            "--threshold", metavar="SHARE", help="Smallest difference that counts: '1%' or 0.01."
        ),
    ] = "1%",
    case: flags.Case = "",
    dtype: flags.Dtype = "",
    timer: flags.Timer = "auto",
    warm: flags.Warm = False,
    rounds: flags.Rounds = 0,
    power: flags.Power = False,
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on",
            metavar="LIST",
            help="Exit with 1 on any of these: slower, unclear, missing, new; or never.",
        ),
    ] = "slower",
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Also write .md, .xml (JUnit), .csv, .json, .svg, .html or .png; repeatable.",
            callback=writes_files_and_folders,
            show_default=False,
        ),
    ] = None,
    file_format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format of --out, if its ending names none: markdown, junit, csv, json, plot.",
        ),
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Compare results even if GPU, clocks or timer differ.")
    ] = False,
    device: Device = "",
    wait: Wait = None,
    on: On = "",
    json: Json = False,
) -> None:
    """Report for every case whether B is SAME, FASTER or SLOWER than A, or UNCLEAR.

    Revisions, backends and baselines are timed in the same rounds, with --on at the same place.
    Exit code 1 if B is wrong, and by --fail-on.
    """
    from dataclasses import replace

    from fictl.bench.compare.dispatch import compare_two
    from fictl.bench.compare.gate import parse_gate
    from fictl.bench.compare.results import compare_baseline
    from fictl.bench.options import BenchOptions
    from fictl.bench.written.compared_files import formats_of, write_compared
    from fictl.cli._bench.progress import BenchProgress

    use_device(device)
    options = BenchOptions(
        dtype=dtype, case=case, timer=timer, cold=not warm, rounds=rounds, power=power
    )
    limit, gate = share("--threshold", threshold), parse_gate(fail_on)
    files = formats_of(out or [], file_format)
    if baseline and what:
        raise UsageError(
            f"--baseline compares the working tree with the stored baseline, not with {what[0]}",
            "leave one of them out",
        )
    if on:
        refuse_with_on(context, {"baseline", "force", "out", "file_format"})
        console.show(compared_at(context, what or [], ops or [], on, _view, json))
        return
    with _gpu(what or [], ops or [], wait), BenchProgress(json) as progress:
        if baseline:
            outcome = compare_baseline(ops or [], limit, options, progress, force)
        else:
            outcome = compare_two(what or [], ops or [], limit, options, progress, force)
    outcome = replace(outcome, fail_on=gate)
    write_compared(outcome, files)
    data = outcome.to_dict()
    console.show(console.Result(data, lambda out: _view(out, outcome), outcome.exit_code))


def _gpu(what: list[str], ops: list[str], wait: float | None) -> AbstractContextManager[object]:
    """Take the GPU for what is timed; two stored results need none."""
    from fictl.bench.compare.request import RESULTS, understand

    is_stored = bool(what) and understand(what, ops).kind == RESULTS
    return nullcontext() if is_stored else alone(wait)


def _view(out: Console, outcome: CompareOutcome) -> None:
    from fictl.bench.written.compared_cells import energy

    out.print(
        f"{outcome.a} → {outcome.b} · {outcome.where} · {outcome.how} · "
        f"threshold {outcome.threshold:.1%}",
        markup=False,
        soft_wrap=True,
    )
    if outcome.cases:
        columns = ["case", outcome.a, outcome.b, "B / A", "95 % interval", "verdict"]
        rows = [_row(compared) for compared in outcome.cases]
        if any(compared.joules for compared in outcome.cases):
            columns.insert(-1, "energy")
            rows = [
                (*row[:-1], energy(compared), row[-1])
                for row, compared in zip(rows, outcome.cases, strict=True)
            ]
        console.print_table(console.Table(columns, rows, _STYLES))
    for name, label in ((outcome.only_a, outcome.a), (outcome.only_b, outcome.b)):
        for case in name:
            out.print(f"  only {label} has {case}", markup=False, soft_wrap=True)
    for untimed in outcome.untimed:
        out.print(f"  {untimed.case}: {untimed.who}: {untimed.why}", markup=False, soft_wrap=True)
    for text in outcome.notes:
        out.print(f"  note: {text}", markup=False, soft_wrap=True)
    out.print(_summary(outcome))


_MARKS = {"✗": "red", "✓": "green"}


def _row(compared: Compared) -> tuple[str, ...]:
    from fictl.bench.written.compared_cells import cells

    comparison = compared.comparison
    advice = f"  {comparison.advice}" if comparison.advice else ""
    return (*cells(compared), f"{comparison.verdict.value}{advice}")


def _summary(outcome: CompareOutcome) -> str:
    from fictl.bench.written.compared_cells import mark, summary

    sign = mark(outcome)
    return f"[{_MARKS.get(sign, 'yellow')}]{sign}[/] {summary(outcome)}"
