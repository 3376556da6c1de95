"""The options that mean the same in every command, defined once."""

from __future__ import annotations

from typing import Annotated

import typer

from fictl import settings
from fictl.errors import InvalidValue, UsageError
from fictl.quantity import LARGEST_SIZE, parse_whole

_MOST_DIGITS = 18  # Of a size that torch can have.


def op_names(incomplete: str) -> list[str]:
    """Shell completion: what the projects at hand call their ops."""
    from fictl.project import Project, names

    return [name for name in names(Project.all()) if name.startswith(incomplete)]


def _names_some(value: str) -> str:
    """A list that holds separators alone asks for nothing."""
    if value and not value.strip(" ,;"):
        raise typer.BadParameter(f"{value!r} names no architecture")
    return value


Ops = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="OP",
        help="An op, a family or a public function; project/op names one project's.",
        autocompletion=op_names,
        show_default=False,
    ),
]
Archs = Annotated[
    str,
    typer.Option(
        "--arch",
        metavar="ARCHS",
        help="Architectures, as in '8.0 9.0a'.",
        callback=_names_some,
        show_default=False,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout.", show_default=False)
]
Device = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="cuda|emu",
        help="Device to run on: cuda, or emu (emulated).",
        show_default=False,
    ),
]
Schedule = Annotated[
    str,
    typer.Option(
        "--schedule",
        metavar="ORDER",
        help="Order of emulated threads: forward, reverse or random-<seed>.",
        show_default=False,
    ),
]
Keyword = Annotated[
    str,
    typer.Option(
        "-k",
        metavar="EXPR",
        help="Run only tests whose name matches, as pytest's -k.",
        show_default=False,
    ),
]
On = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="PLACES",
        help="Places: local, ssh:gpu1,gpu2, ray://host:port, a file, or names in FICTL_PLACES; "
        "local,PLACES adds this machine.",
        show_default=False,
    ),
]
Toolchain = Annotated[
    str,
    typer.Option(
        "--toolchain",
        metavar="same|any",
        help="Places of --on whose compilers differ: leave them out, or keep a build of each kind.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Show what would be done, and do nothing.", show_default=False),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show every step.", show_default=False)
]


def _use_lock(value: bool) -> bool:
    if value:
        settings.LOCKED.set_by_flag("--locked", "1", for_children=True)
    return value


Locked = Annotated[
    bool,
    typer.Option(
        "--locked",
        help="Use only builds that fictl.lock names, of the modules in it.",
        callback=_use_lock,
        show_default=False,
    ),
]


def use_device(device: str, arch: str | None = None) -> None:
    """Apply the flags about the device; naming architectures implies a GPU."""
    if device:
        settings.DEVICE.set_by_flag("--device", device)
        if settings.DEVICE.get() == "emu" and arch:
            raise UsageError(
                "--arch names GPUs, and --device emu uses none", "leave one of them out"
            )
    elif arch or (arch is not None and settings.CUDA_ARCH_LIST.get()):
        settings.DEVICE.set_by_flag("--arch", "cuda")


def sizes(axes: str) -> dict[str, int]:
    """Parse the sizes of --axes."""
    sizes_by_axis: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in axes.split(","))):
        name, _, size = (word.strip() for word in part.partition("="))
        if not name.isidentifier() or size.startswith("+"):
            raise UsageError(f"--axes: {part!r} is not an axis and its size", "as in rows=7,n=64")
        try:
            whole = parse_whole(size, 0, LARGEST_SIZE)
        except InvalidValue as error:
            raise UsageError(f"--axes: {name} = {error.message}", "as in rows=7,n=64") from None
        if sizes_by_axis.setdefault(name, whole) != whole:
            raise UsageError(f"--axes: {name} is {sizes_by_axis[name]} and {whole}", "say it once")
    return sizes_by_axis
