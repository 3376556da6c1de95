"""fictl debug: a debugger in a kernel."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl.cli import console, help_page
from fictl.cli._bench import options as flags
from fictl.cli.numbers import seconds
from fictl.cli.options import Device, DryRun, Json, op_names, use_device
from fictl.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.bench.options import BenchOptions
    from fictl.debug.session import DebugProgram, DebugSession
    from fictl.debug.transcript import DebugStop, Transcript

# Of more kernels their number says enough.
_SHOWN = 3


def _text(*names: str, **more: Any) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(*names, show_default=False, **more)
    return option


Words = Annotated[
    list[str],
    typer.Argument(
        metavar="OP [-- WORDS]",
        help="An op, a public function or a dump; arguments after -- go to the debugger.",
        autocompletion=op_names,
        show_default=False,
    ),
]
Kernel = Annotated[
    str,
    _text(
        "--kernel",
        metavar="NAME",
        help="Stop in this kernel; default: any kernel of the op.",
        rich_help_panel=help_page.STOP,
    ),
]
Block = Annotated[str, _text("--block", metavar="X[,Y,Z]", help="Stop in this block.")]
Thread = Annotated[str, _text("--thread", metavar="X[,Y,Z]", help="Stop in this thread.")]
Places = Annotated[
    list[str] | None,
    _text(
        "--break",
        metavar="FILE:LINE",
        help="Break at FILE:LINE or a function instead of at kernel entry.",
    ),
]
Fault = Annotated[
    bool,
    typer.Option(
        "--fault", help="Stop only at a fault, and show the thread and line that cause it."
    ),
]
Batch = Annotated[
    list[str] | None,
    _text(
        "--batch",
        metavar="COMMAND",
        help="Run this debugger command at the stop, print its output, and exit.",
    ),
]
Timeout = Annotated[float, seconds("--timeout", help="Time limit of a batch, in seconds.")]


EXAMPLES = {
    "fictl debug swish --block 3 --thread 17": "stop in that thread of its kernel",
    "fictl debug swish --fault --device emu": "stop only at a fault, without a GPU",
}


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
    """Debug a kernel of an op: cuda-gdb on a GPU, gdb on the emulated device.

    The smallest matching case is called once, in a slow debug build that keeps every variable.
    """
    from fictl import settings
    from fictl.bench.options import BenchOptions
    from fictl.bench.sweep import parse_axis
    from fictl.cli.progress import ConsoleObserver
    from fictl.debug.focus import Focus
    from fictl.debug.start import DebugRequest, session
    from fictl.testing.device import choose_device

    if json and not (batch or dry_run):
        raise UsageError("--json needs --batch", "--batch COMMAND")
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
        debugging = session(asked, observer)
    if dry_run:
        line = shlex.join(debugging.argv(batch))
        console.show(console.Result({**_facts(debugging), "command": line}, line))
        return
    _say(debugging)
    if batch is None:
        debugging.hand_over()
    transcript = debugging.run(batch, timeout)
    data = {**_facts(debugging), **transcript.to_dict()}
    focused = bool(debugging.focus.words)
    console.show(
        console.Result(data, lambda out: _view(out, transcript, focused), transcript.exit_code)
    )


def _program(word: str, options: BenchOptions) -> DebugProgram:
    """Return the program to debug: the smallest case of an op, or the call of a dump."""
    from fictl.case.selection import functions
    from fictl.cli.one_op import one_op
    from fictl.debug.session import DebugProgram
    from fictl.op.watch.dump.record import METADATA

    path = Path(word)
    if os.path.isfile(path / METADATA):
        return _dumped(path)
    folder, name = one_op(word), word.rpartition("/")[2]
    # An op's folder is often named as one of its functions, which is then what is meant.
    exact = {declaration.name for declaration in folder.declarations()} & {name}
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


def _facts(debugging: DebugSession) -> dict[str, object]:
    return {
        "op": str(debugging.program.folder),
        "device": debugging.device,
        "debugger": str(debugging.debugger.path),
        "places": list(debugging.places),
    }


def _say(debugging: DebugSession) -> None:
    what = "emulated: no GPU is used; " if debugging.device == "emu" else ""
    many = f"{len(debugging.places)} kernels" if len(debugging.places) > _SHOWN else ""
    where = many or ", ".join(debugging.places) or "a fault"
    thread = f", {debugging.focus.words}" if debugging.focus.words else ""
    console.note(
        f"{what}{debugging.debugger.name} on a debug build for {debugging.program.what}, to {where}{thread}"
    )


def _view(out: Console, transcript: Transcript, focused: bool) -> None:
    out.print(transcript.output, markup=False, soft_wrap=True)
    if transcript.fault:
        out.print(f"[red]✗[/] {_told(transcript.fault)}", soft_wrap=True)
    elif not transcript.stops:
        how = (
            f"the program ended {transcript.ended}"
            if transcript.ended
            else "the program did not run"
        )
        out.print(f"[red]✗[/] nothing stopped it: {how}", soft_wrap=True)
        if focused:
            out.print("  has its launch that block and thread? --case and --axis choose another")


def _told(fault: DebugStop) -> str:
    from rich.markup import escape

    indices = {"block": fault.block, "thread": fault.thread}
    who = "".join(
        f", {name} ({','.join(map(str, index))})" for name, index in indices.items() if index
    )
    where = f"  {fault.file}:{fault.line}" if fault.file else ""
    return escape(f"{fault.fault} in {fault.kernel or 'no kernel'}{who}{where}")
