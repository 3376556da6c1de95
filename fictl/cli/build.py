"""fictl build: compile ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl import settings
from fictl.cli import console
from fictl.cli.no_ops import no_ops
from fictl.cli.options import Archs, Device, DryRun, Json, Ops, Verbose, use_device
from fictl.errors import UsageError
from fictl.paths import friendly

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.arch import Arch


def command(
    ops: Ops = None,
    arch: Archs = "",
    device: Device = "",
    time: Annotated[
        bool,
        typer.Option("--time", help="Show where a cold build's time goes.", show_default=False),
    ] = False,
    dry_run: DryRun = False,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Compile ops, those of the project here if none is named. What is built already is kept."""
    from fictl.arch import parse_archs
    from fictl.builds import building
    from fictl.cli.progress import ConsoleObserver
    from fictl.toolchain import native_targets

    if time and dry_run:
        raise UsageError("--time measures compiles, --dry-run runs none", "leave one of them out")
    use_device(device, arch)
    if time and settings.DEVICE.get() == "emu":
        raise UsageError(
            "--time looks into nvcc, which emulated modules do without", "--device cuda"
        )
    archs = parse_archs(arch, native_targets)
    if dry_run:
        show_plans("build", ops or [], archs)
        return
    with ConsoleObserver(verbose) as observer:
        build = building.build_timed if time else building.build
        built = build(ops or [], archs, observer)
    errors = [each.error for each in built if each.error]
    data = [each.to_dict() for each in built]
    console.show(console.Result.among(errors, "build", data, lambda out: _built(out, built)))


def _built(out: Console, built: list[Any]) -> None:
    if not built:
        out.print(no_ops(), markup=False, soft_wrap=True)
    for each in built:
        if each.error:
            console.problem(each.error)
            continue
        how = f"compiled in {each.seconds:.1f} s" if each.compiled else "was built already"
        origin = f"({each.origin})" if each.origin else ""
        out.print(f"[green]✓[/] [bold]{each.module}[/]  {' '.join((*each.archs, origin))}  {how}")
        out.print(f"  {friendly(each.path)}", markup=False, style="dim", soft_wrap=True)
        if each.time:
            from fictl.cli.build_time import show_time

            show_time(out, each.time)


def show_plans(command: str, ops: list[str], archs: tuple[Arch, ...]) -> None:
    """What `command` would build, and how."""
    from fictl.builds.building import plan

    plans = plan(ops, archs)
    data = [each.to_dict() for each in plans]
    console.show(console.Result(command, data, lambda out: _plans(out, plans)))


def _plans(out: Console, plans: list[Any]) -> None:
    for plan in plans:
        out.print(f"[bold]{plan.module}[/]  {' '.join(plan.archs)} ({plan.origin})  {plan.variant}")
        if plan.warning:
            out.print(f"  [yellow]![/] {plan.warning}", soft_wrap=True)
        for tool, flags in plan.flags.items():
            out.print(f"  {tool:5} {' '.join(flags)}", markup=False, soft_wrap=True)
        for line in plan.commands:
            out.print(f"  $ {line}", markup=False, soft_wrap=True, style="dim")
