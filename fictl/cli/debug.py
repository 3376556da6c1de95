"""fictl debug: a debugger in a kernel."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.bench import options as flags
from fictl.cli.numbers import seconds
from fictl.cli.options import Device, DryRun, Json, op_names, use_device
from fictl.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.bench.options import BenchOptions
    from fictl.debug.session import DebugProgram, DebugSession
    from fictl.debug.transcript import Stop, Transcript

# Of more kernels their number says enough.
_SHOWN = 3


def _text(*names: str, metavar: str, help: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        *names, metavar=metavar, help=help, show_default=False
    )
    return option


Words = Annotated[
    list[str],
    typer.Argument(
        metavar="OP [-- WORD...]",
        help="An op, a public function, or a dump; words behind -- are the debugger's.",
        autocompletion=op_names,
        show_default=False,
    ),
]
Kernel = Annotated[
    str, _text("--kernel", metavar="NAME", help="Stop in this kernel; else in any of the op's.")
]
Block = Annotated[str, _text("--block", metavar="X[,Y,Z]", help="Stop in this block.")]
Thread = Annotated[str, _text("--thread", metavar="X[,Y,Z]", help="Stop in this thread.")]
Places = Annotated[
    list[str] | None,
    _text(
        "--break", metavar="FILE:LINE", help="Stop here, not where kernels begin; or a function."
    ),
]
Fault = Annotated[
    bool, typer.Option("--fault", help="Stop at a fault only: who makes it, and where.")
]
Batch = Annotated[
    list[str] | None,
    _text("--batch", metavar="COMMAND", help="Run this when it has stopped, print, and end."),
]
Timeout = Annotated[float, seconds("--timeout", help="Seconds that a batch may take.")]


def command(
    words: Words,
    case: flags.Case = "",
    dtype: flags.Dtype = "",
    axis: flags.Axes = None,
    kernel: Kernel = "",
    block: Block = "",
    thread: Thread = "",
    places: Places = None,
    fault: Fault = False,
    batch: Batch = None,
    timeout: Timeout = 600.0,
    device: Device = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Stop in a kernel of an op: cuda-gdb on a GPU, gdb on the emulated device.

    A small case of those that match is called once, on a debug build: slow, every variable is there.
    """
    from fictl import settings
    from fictl.bench.options import BenchOptions
    from fictl.bench.sweep import parse_axis
    from fictl.cli.progress import ConsoleObserver
    from fictl.debug.focus import Focus
    from fictl.debug.start import DebugRequest, session
    from fictl.testing.device import choose_device

    if json and not (batch or dry_run):
        raise UsageError("--json is of a batch: a terminal is for people", "--batch COMMAND")
    if fault and (places or kernel):
        raise UsageError("--fault stops at faults only", "leave out --break and --kernel")
    use_device(device)
    settings.DEVICE.set_by_flag("--device", choose_device(settings.DEVICE.get() if device else ""))
    axes = dict(parse_axis(text) for text in axis or ())
    options = BenchOptions(case=case, dtype=dtype, axes=axes, refcheck=False)
    asked = DebugRequest(
        _program(words[0], options),
        kernel,
        tuple(places or ()),
        Focus.parse(block, thread),
        fault,
        tuple(words[1:]),
    )
    with ConsoleObserver() as observer:
        made = session(asked, observer)
    if dry_run:
        line = shlex.join(made.argv(batch))
        console.show(console.Result("debug", {**_facts(made), "command": line}, line))
        return
    _say(made)
    if batch is None:
        made.hand_over()
    said = made.run(batch, timeout)
    data = {**_facts(made), **said.to_dict()}
    focused = bool(made.focus.words)
    console.show(
        console.Result("debug", data, lambda out: _view(out, said, focused), said.exit_code)
    )


def _program(word: str, options: BenchOptions) -> DebugProgram:
    """Of an op, its smallest case; of a dump, the call."""
    from fictl.case.selection import functions
    from fictl.cli.one_op import one_op
    from fictl.debug.session import DebugProgram
    from fictl.op.watch.dump.record import METADATA

    path = Path(word)
    if os.path.isfile(path / METADATA):
        return _dumped(path)
    folder, name = one_op(word), word.rpartition("/")[2]
    # An op's folder is often named as one of its functions, which is then what is meant.
    exact = {each.name for each in folder.declarations()} & {name}
    return DebugProgram.of_case(folder, exact or functions(folder, [word]), options)


def _dumped(path: Path) -> DebugProgram:
    from fictl import settings
    from fictl.debug.session import DebugProgram
    from fictl.replay.dump import Dump
    from fictl.replay.replay_process import ReplayProcess

    process = ReplayProcess.of(Dump.open(path), settings.DEVICE.get())
    program = process.program
    argv = tuple(program.argv())
    return DebugProgram(path.name, process.dump.folder(), argv, program.variables)


def _facts(made: DebugSession) -> dict[str, object]:
    return {
        "op": str(made.program.folder),
        "device": made.device,
        "debugger": str(made.debugger.path),
        "places": list(made.places),
    }


def _say(made: DebugSession) -> None:
    what = "emulated: no GPU is used; " if made.device == "emu" else ""
    many = f"{len(made.places)} kernels" if len(made.places) > _SHOWN else ""
    where = many or ", ".join(made.places) or "a fault"
    thread = f", {made.focus.words}" if made.focus.words else ""
    console.note(
        f"{what}{made.debugger.name} on a debug build for {made.program.what}, to {where}{thread}"
    )


def _view(out: Console, said: Transcript, focused: bool) -> None:
    out.print(said.output, markup=False, soft_wrap=True)
    if said.fault:
        out.print(f"[red]✗[/] {_told(said.fault)}", soft_wrap=True)
    elif not said.stops:
        how = f"the program ended {said.ended}" if said.ended else "the program did not run"
        out.print(f"[red]✗[/] nothing stopped it: {how}", soft_wrap=True)
        if focused:
            out.print("  has its launch that block and thread? --case and --axis choose another")


def _told(fault: Stop) -> str:
    from rich.markup import escape

    indices = {"block": fault.block, "thread": fault.thread}
    who = "".join(
        f", {name} ({','.join(map(str, index))})" for name, index in indices.items() if index
    )
    where = f"  {fault.file}:{fault.line}" if fault.file else ""
    return escape(f"{fault.fault} in {fault.kernel or 'no kernel'}{who}{where}")
