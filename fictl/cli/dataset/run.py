"""fictl dataset run: solutions evaluated on workloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.cli.dataset import run_flags as flags
from fictl.cli.gpu_use import Wait
from fictl.cli.options import DryRun, Json, On
from fictl.errors import SetupError, UsageError
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.dataset.run_options import RunOptions
    from fictl.dataset.summary import Summary


EXAMPLES = {
    "fictl dataset run dataset --untrusted": "every solution on every workload, in a sandbox",
    "fictl dataset run dataset --solutions 'my_*' --resume": "some solutions; what has a result is skipped",
}


def command(
    root: flags.Root = None,
    definitions: flags.Definitions = None,
    solutions: flags.Solutions = None,
    op_type: flags.OpTypes = None,
    device: flags.Device = "",
    warmup_runs: flags.Warmup = None,
    iterations: flags.Iterations = None,
    num_trials: flags.Trials = None,
    rtol: flags.Rtol = None,
    atol: flags.Atol = None,
    required_matched_ratio: flags.Ratio = None,
    timeout: flags.Timeout = None,
    compile_timeout: flags.CompileTimeout = None,
    seed: flags.Seed = None,
    profile_baseline: flags.Baseline = None,
    isolated: flags.Isolated = False,
    large: flags.Large = False,
    untrusted: flags.Untrusted = False,
    resume: flags.Resume = False,
    jobs: flags.Jobs = 0,
    gpus: flags.Gpus = "",
    wait: Wait = None,
    on: On = "",
    hardware: flags.Hardware = "",
    config: flags.Config = None,
    save: flags.Save = True,
    strict: flags.Strict = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Run solutions on the workloads of their definitions, and add the results to the dataset.

    A solution that fails is a result. The exit code is 1 where something could not be evaluated, 3
    where the judge or a place is the reason: --resume runs that again.
    """
    overrides = {
        "warmup_runs": warmup_runs,
        "iterations": iterations,
        "num_trials": num_trials,
        "rtol": rtol,
        "atol": atol,
        "required_matched_ratio": required_matched_ratio,
        "timeout_seconds": timeout,
        "compile_timeout_seconds": compile_timeout,
        "seed": seed,
        "profile_baseline": profile_baseline,
        "untrusted": untrusted or None,
    }
    from fictl.dataset.run_options import RunOptions
    from fictl.trace import TraceSet

    options = RunOptions(
        definitions=flags.names(definitions),
        solutions=flags.names(solutions),
        op_types=flags.names(op_type),
        device=_device(device),
        config=config,
        isolated=isolated,
        large=large,
        resume=resume,
        jobs=jobs,
        save=save,
        flags={name: value for name, value in overrides.items() if value is not None},
        wait=wait,
        on=on,
        hardware=tuple(filter(None, (name.strip() for name in hardware.split(",")))),
        gpus=tuple(filter(None, (name.strip() for name in gpus.split(",")))),
    )
    place = TraceSet.from_path(root).root
    if dry_run:
        _plan(place, options)
    else:
        _run(place, options, strict, quiet=json)


def _plan(root: Path, options: RunOptions) -> None:
    from fictl.dataset.run_jobs import planned_run
    from fictl.dataset.torn import told
    from fictl.trace import TraceSet

    planned = planned_run(TraceSet.from_path(root), options, console.note)
    rows = [(job.definition.name, job.solution.name, str(job.count)) for job in planned.jobs]
    rows.append((counted(len(rows), "solution"), "", f"{planned.total}"))
    rows += [(why, "", "") for why in planned.left_out]
    broken = told(planned.unreadable, mend=False)
    rows += [(path, "", "") for path in broken]
    data = {
        "jobs": [job.to_dict() for job in planned.jobs],
        "total": planned.total,
        "skipped": planned.skipped,
        "left_out": [*planned.left_out],
        "unreadable": [*broken],
    }
    view = console.Table(("definition", "solution", "workloads"), rows)
    console.show(console.Result(data, view))


def _run(root: Path, options: RunOptions, strict: bool, quiet: bool) -> None:
    from fictl.cli.dataset.progress import RunProgress
    from fictl.dataset.run_jobs import run_dataset

    with RunProgress(quiet) as progress:
        summary = run_dataset(root, options, progress)
    bad = bool(summary.errors) or (strict and not summary.all_passed)
    data = {"root": str(root), "device": options.device, **summary.to_dict()}

    def view(out: Console) -> None:
        _show(out, summary, options.device)

    is_incomplete = bool(summary.faults or summary.undone)
    code = SetupError.exit_code if is_incomplete else int(bad)
    console.show(console.Result(data, view, code))


def _show(out: Console, summary: Summary, device: str) -> None:
    from fictl.dataset.report.tables import NO_GPU

    words = [f"{count} {status}" for status, count in summary.statuses.most_common()]
    if summary.skipped:
        words.append(f"{summary.skipped} evaluated before")
    out.print(f"{' · '.join(words)}    {_spent(summary.seconds)}", markup=False)
    for why in summary.left_out:
        out.print(f"  {why}", markup=False, soft_wrap=True)
    for error in summary.errors[:20]:
        line = f"  {error.definition}  {error.workload}  {error.error}"
        out.print(line, markup=False, soft_wrap=True)
    if summary.faults or summary.undone:
        count = len(summary.faults) + summary.undone
        text = f"{counted(count, 'workload')} not judged: --resume runs them"
        out.print(text, style="yellow", markup=False)
    if summary.outcomes and device != "cuda":
        out.print(NO_GPU, style="yellow", markup=False)
    saved = "fictl dataset report shows them" if summary.saved else "--no-save: none was kept"
    if summary.outcomes:
        out.print(saved, style="dim", markup=False)


def _spent(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


def _device(asked: str) -> str:
    from fictl.judge.config import DEVICES

    if asked and asked not in DEVICES:
        raise UsageError(f"--device is {asked!r}", f"one of {', '.join(DEVICES)}")
    if asked:
        return asked
    from fictl import settings

    return settings.DEVICE.get()
