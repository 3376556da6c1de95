"""fictl profile: what an op makes the GPU do, and how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fictl.cli import console
from fictl.cli._bench import options as bench_flags
from fictl.cli._profile import options as flags
from fictl.cli._profile.tools import ProfileTool, tool, tool_of_ranks
from fictl.cli.gpu_use import Wait, alone
from fictl.cli.options import Device, DryRun, Json, Locked, Ops, use_device
from fictl.errors import FictlError, SetupError, UsageError
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.bench.options import BenchOptions
    from fictl.profile.outcome import ProfileOutcome
    from fictl.profile.request import ProfileRequest


EXAMPLES = {
    "fictl profile rmsnorm": "launches and their times",
    "fictl profile rmsnorm --tool ncu --case 16384x4096": "what bounds the kernel of one case",
    "fictl profile swish --tool events --trace swish.json": "phases inside the kernel, for ui.perfetto.dev",
    "fictl profile all_reduce --gpus 2": "all ranks on one timeline, and who waits for whom",
}


def command(
    context: typer.Context,
    ops: Ops = None,
    tool_name: flags.Tool = "cupti",
    case: bench_flags.Case = "",
    dtype: bench_flags.Dtype = "",
    axis: bench_flags.Axes = None,
    warm: bench_flags.Warm = False,
    calls: flags.Calls = None,
    trace: flags.Trace = None,
    out: flags.Out = Path("profiles"),
    set: flags.Set = "",
    section: flags.Sections = None,
    kernel: flags.KernelName = "",
    ncu_arg: flags.NcuArguments = None,
    blocks: flags.Blocks = "",
    events: flags.Events = 0,
    timeout: bench_flags.Timeout = 600.0,
    gpus: flags.Gpus = None,
    device: Device = "",
    wait: Wait = None,
    dry_run: DryRun = False,
    locked: Locked = False,
    json: Json = False,
) -> None:
    """Profile ops: kernels, launches, copies, and what they wait for.

    Without --case or --axis, the largest case of each function is profiled.
    """
    from fictl.profile.chosen import requests

    use_device(device)
    ranks = gpus or 0
    chosen = (tool_of_ranks if ranks else tool)(tool_name, context.params)
    if not dry_run:
        _require_device(tool_name, chosen, ranks)
    options = _options(case, dtype, axis or [], warm, timeout)
    asked = requests(ops or [], options, calls or chosen.calls, out, ranks)
    if trace and len(asked) > 1:
        names = ", ".join(request.case for request in asked[:3])
        raise UsageError(
            f"--trace names one file, and these are {len(asked)} cases: {names} …",
            "--case chooses one; --out names a folder for all",
        )
    if dry_run:
        _plan(asked, _recorder(tool_name, ranks))
        return
    say = (lambda line: None) if json else console.note
    with alone(wait, ranks=ranks or 1) as held:
        if ranks:
            asked = [replace(request, gpus=held) for request in asked]
        outcomes = list(chosen.look(asked, context.params, say))
    _show(outcomes, chosen)


def _options(
    case: str, dtype: str, axis: Sequence[str], warm: bool, timeout: float
) -> BenchOptions:
    from fictl.bench.options import BenchOptions
    from fictl.bench.sweep import parse_axis

    return BenchOptions(
        case=case, dtype=dtype, axes=dict(map(parse_axis, axis)), cold=not warm, timeout=timeout
    )


def _plan(asked: Sequence[ProfileRequest], name: str) -> None:
    rows = [
        (request.case, _with_ranks(name, request), str(request.calls), f"{request.out}/")
        for request in asked
    ]
    data = [
        {
            "op": str(request.folder),
            "case": request.case,
            "tool": name,
            "calls": request.calls,
            "ranks": request.ranks,
        }
        for request in asked
    ]
    view = console.Table(("case", "tool", "calls", "kept in"), rows)
    console.show(console.Result(data, view))


def _recorder(name: str, ranks: int) -> str:
    """The host's clock stands in for CUPTI where several ranks are emulated."""
    from fictl import settings

    return "host" if ranks and settings.DEVICE.get() == "emu" else name


def _with_ranks(name: str, request: ProfileRequest) -> str:
    return f"{name}, {counted(request.ranks, 'rank')}" if request.ranks else name


_RANKS_EMULATED = "--device emu runs the ranks on the emulated device, in the times of the host"


def _require_device(name: str, chosen: ProfileTool, ranks: int) -> None:
    from fictl import settings
    from fictl.ranks.gpus import require_gpus
    from fictl.toolchain import require_gpu

    hint = "fictl inspect needs no GPU; --tool events and fictl sanitize run emulated: --device emu"
    if settings.DEVICE.get() == "cuda":
        require_gpu("there is no GPU here to profile on", _RANKS_EMULATED if ranks else hint)
        require_gpus(ranks)
    elif not chosen.on_emu:
        raise SetupError(f"{name} profiles a GPU: the emulated device has no times of one", hint)


def _show(outcomes: Sequence[ProfileOutcome], chosen: ProfileTool) -> None:
    """An error that all of them met is the answer; one of some stands below the others."""
    errors = [outcome.error for outcome in outcomes if outcome.error]
    alike = {(error.message, error.hint) for error in errors}
    if len(errors) == len(outcomes) and len(alike) == 1:
        raise errors[0]

    def view(out: Console) -> None:
        for number, outcome in enumerate(outcomes):
            if number:
                out.print()
            if outcome.error:
                console.problem(_of(outcome.case, outcome.error))
            else:
                chosen.show(out, outcome.result)

    data = [outcome.to_dict() for outcome in outcomes]
    console.show(console.Result.among(errors, data, view))


def _of(case: str, error: FictlError) -> FictlError:
    return type(error)(f"{case}: {error.message}", error.hint)
