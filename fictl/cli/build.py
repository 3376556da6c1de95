"""fictl build: compile ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl import settings
from fictl.cli import console
from fictl.cli.no_ops import no_ops
from fictl.cli.options import Archs, Device, DryRun, Json, Locked, Ops, Verbose, use_device
from fictl.errors import UsageError
from fictl.paths import friendly

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.arch import Arch


EXAMPLES = {
    "fictl build": "every op of the project here, for the GPU here",
    "fictl build rmsnorm --arch '8.0 9.0a'": "one op for two architectures",
    "fictl build rmsnorm --time --arch 9.0a": "where the time of a cold build goes",
}


def command(
    ops: Ops = None,
    arch: Archs = "",
    device: Device = "",
    time: Annotated[
        bool,
        typer.Option(
            "--time", help="Show where the time of a cold build goes.", show_default=False
        ),
    ] = False,
    dry_run: DryRun = False,
    verbose: Verbose = False,
    locked: Locked = False,
    json: Json = False,
) -> None:
    """Compile the named ops, or every op of the project here. Existing builds are kept."""
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
        show_plans(ops or [], archs)
        return
    with ConsoleObserver(verbose) as observer:
        build = building.build_timed if time else building.build
        built = build(ops or [], archs, observer)
    errors = [built_module.error for built_module in built if built_module.error]
    data = [built_module.to_dict() for built_module in built]
    console.show(console.Result.among(errors, data, lambda out: _built(out, built)))


def _built(out: Console, built: list[Any]) -> None:
    from rich.markup import escape

    if not built:
        out.print(no_ops(), markup=False, soft_wrap=True)
    for module in built:
        if module.error:
            console.problem(module.error)
            continue
        why = f" ({escape(module.why)})" if module.why else ""
        how = f"compiled in {module.seconds:.1f} s{why}" if module.compiled else _ready(module)
        origin = f"({module.origin})" if module.origin else ""
        out.print(
            f"[green]✓[/] [bold]{escape(module.title)}[/]  {' '.join((*module.archs, origin))}  {how}",
            soft_wrap=True,
        )
        out.print(f"  {friendly(module.path)}", markup=False, style="dim", soft_wrap=True)
        if module.time:
            from fictl.cli.build_time import show_time

            show_time(out, module.time)


def _ready(module: Any) -> str:
    """Say of a build that was not compiled now where it is from."""
    from rich.markup import escape

    return escape(module.why) or "was built already"


def show_plans(ops: list[str], archs: tuple[Arch, ...]) -> None:
    """Show what a build of these ops would run, and how."""
    from fictl.builds.building import plan

    plans = plan(ops, archs)
    data = [planned.to_dict() for planned in plans]
    console.show(console.Result(data, lambda out: _plans(out, plans)))


def _plans(out: Console, plans: list[Any]) -> None:
    from rich.markup import escape

    for plan in plans:
        out.print(
            f"[bold]{escape(plan.title)}[/]  {' '.join(plan.archs)} ({plan.origin})  {plan.variant}"
        )
        if plan.warning:
            out.print(f"  [yellow]![/] {plan.warning}", soft_wrap=True)
        for tool, flags in plan.flags.items():
            out.print(f"  {tool:5} {' '.join(flags)}", markup=False, soft_wrap=True)
        for line in plan.commands:
            out.print(f"  $ {line}", markup=False, soft_wrap=True, style="dim")
