"""fictl tune: find the fastest tactics of ops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl import settings
from fictl.cli import console
from fictl.cli.gpu_use import Wait, alone
from fictl.cli.on_places import spread_ops
from fictl.cli.options import Device, DryRun, Json, Locked, On, Ops, use_device
from fictl.cli.outputs import writes_file_and_folders
from fictl.errors import FictlError
from fictl.paths import friendly

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from fictl.op.tactics.records import Candidate, Entry
    from fictl.tune.plan import TuningWork
    from fictl.tune.tune_ops import Tuning
    from fictl.tune.tuner import TuningOutcome


EXAMPLES = {
    "fictl tune rmsnorm --dry-run": "the configurations that would be timed",
    "fictl tune rmsnorm --dtype bf16 --file tuned.json": "keep the fastest in a file of one's own",
}


def command(
    context: typer.Context,
    ops: Ops = None,
    case: Annotated[
        str,
        typer.Option(
            "--case",
            metavar="CASE",
            help="Select cases whose name contains this.",
            show_default=False,
        ),
    ] = "",
    dtype: Annotated[
        str,
        typer.Option(
            "--dtype", metavar="DTYPE", help="Select cases of this dtype.", show_default=False
        ),
    ] = "",
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="Cache file to add to; default: this machine's.",
            callback=writes_file_and_folders,
            show_default=False,
        ),
    ] = None,
    device: Device = "",
    wait: Wait = None,
    on: On = "",
    dry_run: DryRun = False,
    locked: Locked = False,
    json: Json = False,
) -> None:
    """Time the tactics of ops over their cases, and keep those that beat the default.

    FICTL_AUTOTUNER_LOAD_FROM_FILE=1 makes calls use them.
    """
    from fictl.tune.plan import plan
    from fictl.tune.tune_ops import file_in_use, tune

    use_device(device)
    if on and not dry_run:
        console.show(_spread(context, ops or [], case, dtype, file, on, json))
        return
    _require_gpu()
    work = plan(ops or [], case, dtype)
    if dry_run:
        data = {"file": str(file_in_use(file)), "keys": [item.to_dict() for item in work]}
        console.show(console.Result(data, _planned(work)))
        return
    with alone(wait), _progress(len(work), quiet=json) as done:
        tuning = tune(work, file, done)
    errors = [
        FictlError(f"{failure.op.api}: {failure.key}: {failure.problem}")
        for failure in tuning.failed
    ]
    data = tuning.to_dict()
    console.show(console.Result.among(errors, data, lambda out: _view(out, tuning)))


def _spread(
    context: typer.Context,
    ops: Sequence[str],
    case: str,
    dtype: str,
    file: Path | None,
    on: str,
    quiet: bool,
) -> console.Result:
    """Tune each op at one of the places; results of each kind of GPU go to its own file."""
    from fictl.farm.spread.merged import errors_of
    from fictl.farm.spread.tuned import RESULT, kept_tuning, tunable
    from fictl.project import Project, select

    device = settings.DEVICE.get()
    folders = tunable(select(ops, [] if ops else [Project.at()]), case, dtype)
    results = spread_ops(
        context,
        ("tune",),
        folders,
        on,
        device=device,
        own={"device", "file"},
        words=("--device", device, "--file", RESULT),
        keeps=(RESULT,),
        quiet=quiet,
    )
    tunings = kept_tuning(results.results, file)
    errors = [*errors_of(results), *(one.error for one in tunings if one.error)]

    def view(out: Console) -> None:
        for one in tunings:
            out.print(f"[bold]{one.place}[/]  {one.gpu}  {friendly(one.file)}", soft_wrap=True)
            for key in one.keys:
                winner = (key.get("measured") or {}).get("winner", "not tuned")
                out.print(f"  {key['op']}  {key['key']}  {winner}", markup=False, soft_wrap=True)
        for error in errors:
            console.problem(error)

    data = {"tunings": [one.to_dict() for one in tunings], "left_out": [*results.left_out]}
    return console.Result.among(errors, data, view)


def _require_gpu() -> None:
    from fictl.toolchain import require_gpu

    if settings.DEVICE.get() == "cuda":
        require_gpu(
            "tactics are timed on a GPU, and there is none here",
            "--device emu shows what the command does; its times are those of the host",
        )


def _planned(work: Sequence[TuningWork]) -> console.Table:
    rows = [
        (item.tactics.op.name, item.key, str(item.case), ", ".join(item.candidates))
        for item in work
    ]
    return console.Table(("op", "key", "case", "tactics"), rows)


@contextmanager
def _progress(total: int, quiet: bool) -> Iterator[Callable[[TuningOutcome], object]]:
    """A bar on a terminal, a line a key on a pipe."""
    err = console.console(stderr=True)
    if not err.is_interactive:
        yield (lambda outcome: None) if quiet else (lambda outcome: console.note(_line(outcome)))
        return
    from rich.progress import Progress

    with Progress(console=err, transient=True) as bar:
        task = bar.add_task("tuning", total=total)
        yield lambda outcome: bar.update(task, advance=1, description=outcome.key)


def _line(outcome: TuningOutcome) -> str:
    return f"{outcome.op.name}  {outcome.key}  {outcome.problem or 'timed'}"


def _view(out: Console, tuning: Tuning) -> None:
    entries = [outcome.entry for outcome in tuning.outcomes if outcome.entry]
    how = [f"{entries[0].timer}", "cold L2" if entries[0].cold else "warm L2"] if entries else []
    driver = [f"driver {tuning.machine.driver}"] if tuning.machine.driver else []
    out.print(" · ".join([tuning.machine.gpu, *driver, *how]), markup=False)
    for note in tuning.notes:
        out.print(f"[yellow]![/] {note}", soft_wrap=True)
    for outcome in tuning.outcomes:
        out.print(f"\n[bold]{outcome.op.name}[/]  {outcome.key}", soft_wrap=True)
        if outcome.entry is None:
            out.print(f"  not tuned: {outcome.problem}", markup=False, soft_wrap=True)
        else:
            _candidates(out, outcome.entry)
    better = sum(entry.winner != entry.candidates[0].tactic for entry in entries)
    out.print(f"\n{better} of {len(entries)} faster than the default · {friendly(tuning.file)}")
    out.print(f"  to use it: {settings.AUTOTUNER_LOAD_FROM_FILE.name}={_loads(tuning)}")


def _loads(tuning: Tuning) -> str:
    from fictl.tune.tune_ops import file_in_use

    return "1" if tuning.file == file_in_use() else friendly(tuning.file)


def _candidates(out: Console, entry: Entry) -> None:
    from fictl.op.tactics.spelling import label

    width = max(len(label(candidate.tactic)) for candidate in entry.candidates)
    for candidate in entry.candidates:
        mark = "[green]✓[/]" if candidate.tactic == entry.winner else " "
        out.print(
            f"  {mark} {label(candidate.tactic):{width}}  {_measured(candidate)}", soft_wrap=True
        )


def _measured(row: Candidate) -> str:
    from rich.markup import escape

    if row.problem:
        return f"[yellow]refused: {escape(row.problem)}[/]"
    if not row.median:
        return "not timed: no other tactic is left"
    beside = f"{row.ratio:5.2f}x  {row.verdict}" if row.verdict else "default"
    return f"{row.median * 1e6:9.2f} us ±{row.stdrel:.1%}  {beside}"
