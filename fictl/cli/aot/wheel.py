"""fictl aot wheel: prebuilt modules that pip installs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.build import show_plans
from fictl.cli.options import Archs, Device, DryRun, Json, Ops, Verbose, use_device
from fictl.cli.outputs import writes_folder
from fictl.errors import UsageError
from fictl.paths import friendly

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.ship.wheel import Wheel

_SPLITS = ("auto", "family", "none")


def _known_split(value: str) -> str:
    if value not in _SPLITS:
        raise typer.BadParameter(f"{value!r} is none of {', '.join(_SPLITS)}")
    return value


EXAMPLES = {
    "fictl aot wheel --arch '8.0 9.0a'": "into dist/",
    "fictl aot wheel rmsnorm --name my-builds --version 1.2.0": "one op, under a name of one's own",
}


def command(
    ops: Ops = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Output folder.", callback=writes_folder)
    ] = Path("dist"),
    arch: Archs = "",
    device: Device = "",
    name: Annotated[
        str,
        typer.Option(
            "--name",
            metavar="NAME",
            help="Name of the package instead of <project>-prebuilt.",
            show_default=False,
        ),
    ] = "",
    version: Annotated[
        str,
        typer.Option(
            "--version",
            metavar="VERSION",
            help="Version instead of the project's, as in 1.2.0.",
            show_default=False,
        ),
    ] = "",
    split: Annotated[
        str,
        typer.Option(
            "--split",
            metavar="auto|family|none",
            help="One wheel a family of GPUs: where one of all is too large, always, never.",
            callback=_known_split,
        ),
    ] = "auto",
    max_size: Annotated[
        str, typer.Option("--max-size", metavar="SIZE", help="Largest size of a wheel, as in 95M.")
    ] = "95M",
    dry_run: DryRun = False,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Build all modules that ops declare into wheels, which fictl finds where pip installs them."""
    from fictl.arch import parse_archs
    from fictl.cli.progress import ConsoleObserver
    from fictl.quantity import parse_size
    from fictl.ship.wheel import WheelOptions, make_wheels
    from fictl.toolchain import native_targets

    use_device(device or "cuda", arch)
    archs = parse_archs(arch, native_targets)
    largest = parse_size(max_size)
    if not largest:
        raise UsageError(f"--max-size {max_size}: no wheel is that small", "as in 95M")
    if dry_run:
        show_plans(ops or [], archs)
        return
    options = WheelOptions(out.absolute(), name, version, split, largest)
    with ConsoleObserver(verbose) as observer:
        wheels = make_wheels(options, ops or [], archs, observer)
    data = {"out": str(options.out), "wheels": [wheel.to_dict() for wheel in wheels]}
    console.show(console.Result(data, lambda out: _view(out, wheels)))


def _view(out: Console, wheels: list[Wheel]) -> None:
    from fictl.quantity import spell_size

    for wheel in wheels:
        count = f"{len(wheel.modules)} module{'s' * (len(wheel.modules) != 1)}"
        sizes = f"{spell_size(wheel.size)} ({spell_size(wheel.unpacked)} unpacked)"
        targets = " ".join(wheel.archs) or "emulated device"
        out.print(
            f"[green]✓[/] [bold]{wheel.path.name}[/]  {count}  {targets}  {sizes}", soft_wrap=True
        )
    paths = " ".join(friendly(wheel.path) for wheel in wheels)
    out.print(f"  use it: pip install {paths}", markup=False, soft_wrap=True)
