"""fictl inspect: what the compilers made of kernels."""

from __future__ import annotations

from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.numbers import whole
from fictl.cli.options import Archs, Json, Verbose
from fictl.errors import UsageError


def _names(incomplete: str) -> list[str]:
    """Shell completion."""
    from fictl.project import Project, names

    return [name for name in names(Project.all()) if name.startswith(incomplete)]


EXAMPLES = {
    "fictl inspect rmsnorm --arch 9.0a": "registers, spills and occupancy of each kernel",
    "fictl inspect rmsnorm --gate 'spill_bytes==0, registers<=64'": "fail where a kernel spills, or has more registers",
    "fictl inspect rmsnorm --against HEAD~1": "what changed since a revision",
}


def command(
    ops: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="OP",
            help="An op, a family, a public function, or a file: .cubin, .so, .cu.",
            autocompletion=_names,
            show_default=False,
        ),
    ] = None,
    arch: Archs = "",
    kernel: Annotated[
        str,
        typer.Option(
            "--kernel", metavar="REGEX", help="Show only kernels whose name contains this."
        ),
    ] = "",
    sass: Annotated[
        bool, typer.Option("--sass", help="Show the SASS instructions below their source lines.")
    ] = False,
    source: Annotated[
        bool, typer.Option("--source", help="Show each source line with all its instructions.")
    ] = False,
    ptx: Annotated[bool, typer.Option("--ptx", help="Show the PTX with source lines.")] = False,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            "--gate",
            metavar="LIST",
            help="Conditions on every kernel: 'spill_bytes==0, registers<=128, LDL==0'.",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        str,
        typer.Option(
            "--against", metavar="REVISION", help="Show changes since a git revision, as in HEAD~1."
        ),
    ] = "",
    threads: Annotated[
        int | None,
        whole(
            "--threads",
            low=1,
            high=1024,
            help="Threads per block, for occupancy; default: the launcher's, or the launch bounds.",
        ),
    ] = None,
    dynamic_shared: Annotated[
        int,
        whole(
            "--dynamic-shared",
            low=0,
            high=1 << 20,
            help="Dynamic shared memory per block in bytes, for occupancy.",
        ),
    ] = 0,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Show registers, spills, shared memory, occupancy and instructions of kernels. Needs no GPU.

    They are compiled once, with line info. Exit code 1 if a gate does not hold.
    """
    from fictl.arch import parse_archs
    from fictl.cli._inspect.view import data_of, view
    from fictl.cli.progress import ConsoleObserver
    from fictl.inspect.metrics import LaunchSize
    from fictl.inspect.report import InspectRequest, report
    from fictl.toolchain import native_targets

    if against and (ptx or source):
        raise UsageError("--against shows changes of SASS", "leave out --ptx and --source")
    request = InspectRequest(
        names=tuple(ops or ()),
        archs=parse_archs(arch, native_targets),
        pattern=kernel,
        gates=tuple(gate or ()),
        against=against,
        launch=LaunchSize(threads, dynamic_shared),
    )
    with ConsoleObserver(verbose) as observer:
        inspected = report(request, observer)
    shown = [name for name, on in (("sass", sass), ("source", source), ("ptx", ptx)) if on]
    data = data_of(inspected, shown) if json else None
    error = next(iter(inspected.errors), None)
    console.show(
        console.Result(data, lambda out: view(out, inspected, shown), inspected.exit_code, error)
    )
