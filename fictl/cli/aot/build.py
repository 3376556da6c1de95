"""fictl aot build: every module into one folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.build import SAME, Elsewhere, require_toolchain_use, show_plans
from fictl.cli.no_ops import no_ops
from fictl.cli.options import (
    Archs,
    DryRun,
    Json,
    Locked,
    On,
    Ops,
    Toolchain,
    Verbose,
    use_device,
)
from fictl.cli.outputs import writes_folder
from fictl.paths import friendly

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.ship.aot import Shipped


_BEYOND = "more than was asked for ({}): it is the build there is, and nothing here can compile"


EXAMPLES = {
    "fictl aot build --out prebuilt": "all ops of the project here",
    "fictl aot build rmsnorm --arch '8.0 9.0a' --out prebuilt": "one op for two architectures",
}


def command(
    context: typer.Context,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Output folder.",
            callback=writes_folder,
            show_default=False,
        ),
    ],
    ops: Ops = None,
    arch: Archs = "",
    on: On = "",
    toolchain: Toolchain = SAME,
    dry_run: DryRun = False,
    verbose: Verbose = False,
    locked: Locked = False,
    json: Json = False,
) -> None:
    """Build all modules that ops declare into a folder, to be used with FICTL_STORES=<folder>."""
    from fictl.arch import parse_archs
    from fictl.cli.progress import ConsoleObserver
    from fictl.ship.aot import ship
    from fictl.toolchain import native_targets

    require_toolchain_use(toolchain, on)
    use_device("cuda")
    archs = parse_archs(arch, native_targets)
    if dry_run:
        show_plans(ops or [], archs)
        return
    elsewhere = Elsewhere(context, ops or [], on, archs, toolchain, quiet=json)
    with ConsoleObserver(verbose) as observer:
        shipped = ship(out, ops or [], archs, observer, elsewhere)
    errors = [built.error for built in shipped.built if built.error]
    data = {**shipped.to_dict(), **elsewhere.to_dict()}
    console.show(console.Result.among(errors, data, lambda out: _view(out, shipped)))


def _view(out: Console, shipped: Shipped) -> None:
    if not shipped.built:
        out.print(no_ops(), markup=False, soft_wrap=True)
        return
    for built in shipped.built:
        if built.error:
            console.problem(built.error)
            continue
        how = f"compiled in {built.seconds:.1f} s" if built.compiled else "was built already"
        at = f"  at {built.place}" if built.place else ""
        out.print(f"[green]✓[/] [bold]{built.module}[/]  {' '.join(built.archs)}  {how}{at}")
        if built.beyond:
            out.print(f"  {_BEYOND.format(' '.join(built.beyond))}", markup=False, soft_wrap=True)
    failed = sum(built.error is not None for built in shipped.built)
    total = len(shipped.built)
    old = f" · {shipped.replaced} of earlier sources removed" if shipped.replaced else ""
    out.print(
        f"{total - failed} of {total} modules in {friendly(shipped.out)}{old}", soft_wrap=True
    )
    for module, archs in shipped.kept:
        out.print(f"  kept of an earlier run: {module}  {' '.join(archs)}", soft_wrap=True)
    if total > failed:
        out.print(f"  use it: FICTL_STORES={shipped.out}", markup=False, soft_wrap=True)
