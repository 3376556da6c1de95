"""fictl build: compile ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl import settings
from fictl.cli import console
from fictl.cli.no_ops import no_ops
from fictl.cli.on_places import refuse_with_on, spread_ops
from fictl.cli.options import (
    Archs,
    Device,
    DryRun,
    Json,
    Locked,
    On,
    Ops,
    Toolchain,
    Verbose,
    use_device,
)
from fictl.errors import UsageError
from fictl.paths import friendly

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.arch import Arch
    from fictl.builds.building import BuiltModule
    from fictl.farm.spread.command_job import SpreadResults


SAME, ANY = "same", "any"
# Options of the commands that build which are for this machine.
_OWN = {"arch", "out", "device", "toolchain", "name", "folder"}
# Without GPUs here a build is for the project's architectures, not for the GPUs of its place.
_NO_GPU = "-1"


EXAMPLES = {
    "fictl build": "every op of the project here, for the GPU here",
    "fictl build rmsnorm --arch '8.0 9.0a'": "one op for two architectures",
    "fictl build rmsnorm --time --arch 9.0a": "where the time of a cold build goes",
}


def command(
    context: typer.Context,
    ops: Ops = None,
    arch: Archs = "",
    device: Device = "",
    time: Annotated[
        bool,
        typer.Option(
            "--time", help="Show where the time of a cold build goes.", show_default=False
        ),
    ] = False,
    on: On = "",
    toolchain: Toolchain = SAME,
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
    require_toolchain_use(toolchain, on)
    use_device(device, arch)
    if time and settings.DEVICE.get() == "emu":
        raise UsageError(
            "--time looks into nvcc, which emulated modules do without", "--device cuda"
        )
    archs = parse_archs(arch, native_targets)
    if dry_run:
        show_plans(ops or [], archs)
        return
    if on:
        refuse_with_on(context, {"time"})
        _show_spread(spread_builds(context, ops or [], on, archs, toolchain, json))
        return
    with ConsoleObserver(verbose) as observer:
        build = building.build_timed if time else building.build
        built = build(ops or [], archs, observer)
    errors = [built_module.error for built_module in built if built_module.error]
    data = [built_module.to_dict() for built_module in built]
    console.show(console.Result.among(errors, data, lambda out: _built(out, built)))


def require_toolchain_use(toolchain: str, on: str) -> None:
    if toolchain not in (SAME, ANY):
        raise UsageError(f"--toolchain is {toolchain!r}", f"{SAME} or {ANY}")
    if toolchain == ANY and not on:
        raise UsageError(f"--toolchain {ANY} is about places", "--on names some")


def spread_builds(
    context: typer.Context,
    ops: list[str],
    on: str,
    archs: tuple[Arch, ...],
    toolchain: str,
    quiet: bool,
) -> tuple[list[BuiltModule], SpreadResults]:
    """Build at other places, for the architectures that a build here would be for."""
    from fictl.arch import spell
    from fictl.farm.spread.collect import collected
    from fictl.farm.spread.toolchains import CompilerChoice
    from fictl.project import Project, select
    from fictl.toolchain import native_targets

    folders = select(ops) if ops else select((), [Project.at()])
    targets = archs
    if settings.DEVICE.get() == "cuda" and not settings.CUDA_ARCH_LIST.get():
        targets = archs or native_targets()
    words = ("--arch", spell(targets)) if targets else ()
    results = spread_ops(
        context,
        ("build",),
        folders,
        on,
        own=_OWN,
        words=words,
        keeps=("builds",),
        variables={} if targets else {settings.CUDA_VISIBLE_DEVICES.name: _NO_GPU},
        compilers=CompilerChoice(settings.DEVICE.get(), toolchain == ANY),
        quiet=quiet,
    )
    return collected(results.results), results


class Elsewhere:
    """Builds of a command that needs all of them here: made at the places of --on, if there are any.

    What failed there, or was left undone, is built here after it.
    """

    def __init__(
        self,
        context: typer.Context,
        ops: list[str],
        on: str,
        archs: tuple[Arch, ...],
        toolchain: str,
        quiet: bool,
    ) -> None:
        self._asked = (context, ops, on, archs, toolchain, quiet)
        self._left_out: tuple[str, ...] | None = None

    def __call__(self) -> list[BuiltModule]:
        if not self._asked[2]:
            return []
        built, results = spread_builds(*self._asked)
        self._left_out = results.left_out
        return built

    def to_dict(self) -> dict[str, Any]:
        return {} if self._left_out is None else {"left_out": [*self._left_out]}


def _show_spread(answers: tuple[list[BuiltModule], SpreadResults]) -> None:
    from fictl.farm.spread.merged import errors_of

    placed, results = answers
    errors = [module.error for module in placed if module.error]
    errors += [error for error in errors_of(results) if error not in errors]

    def view(out: Console) -> None:
        _built(out, placed)
        for error in errors_of(results) if results.undone else ():
            console.problem(error)

    data = [module.to_dict() for module in placed]
    console.show(console.Result.among(errors, data, view))


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
        targets = " ".join(filter(None, (*module.archs, origin)))
        at = f"  at {escape(module.place)}" if module.place else ""
        out.print(
            f"[green]✓[/] [bold]{escape(module.title)}[/]  {escape(targets)}  {how}{at}",
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
