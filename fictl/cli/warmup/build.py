"""fictl warmup build: build what was recorded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import Archs, DryRun, Json, Locked, Verbose
from fictl.paths import friendly
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.warmup import WarmupReport

EXAMPLES = {
    "fictl warmup build warmup.jsonl": "for the GPUs here, else for those it was recorded on",
    "fictl warmup build warmup.jsonl --arch 9.0a": "for other GPUs, on a machine without any",
}


def command(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="File of fictl warmup record.", show_default=False),
    ],
    arch: Archs = "",
    dry_run: DryRun = False,
    verbose: Verbose = False,
    locked: Locked = False,
    json: Json = False,
) -> None:
    """Build exactly the modules that a program needed, with their parameters, and no others.

    Sources that have changed since are built as they are now.
    """
    from fictl.arch import parse_archs
    from fictl.cli.progress import ConsoleObserver
    from fictl.toolchain import native_targets
    from fictl.warmup import build

    archs = parse_archs(arch, native_targets)
    with ConsoleObserver(verbose) as observer:
        report = build(file, archs=archs, observer=observer, dry_run=dry_run)
    result = console.Result.among(report.errors, report.to_dict(), lambda out: _view(out, report))
    console.show(result)


def _view(out: Console, report: WarmupReport) -> None:
    from rich.markup import escape

    for module in report.modules:
        if module.error:
            console.problem(module.error)
            continue
        how = "compiled" if module.compiled else "was built already"
        how = "would be built" if report.dry_run else how
        stale = "  its sources have changed since" if module.stale else ""
        targets = " ".join(module.archs) or "emulated"
        given = " ".join(f"{name}={value}" for name, value in module.parameters.items() if value)
        out.print(
            f"[green]✓[/] [bold]{escape(module.title)}[/]  {targets}  {how}{stale}",
            soft_wrap=True,
        )
        if given:
            out.print(f"  {given[:200]}", markup=False, style="dim", soft_wrap=True)
    if report.cut_off:
        console.note(f"the last line of {friendly(report.file)} is cut off: it is left out")
    ready = len(report.modules) - len(report.errors)
    out.print(f"{counted(ready, 'module')} of {len(report.modules)}", soft_wrap=True)
