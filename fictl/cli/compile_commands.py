"""fictl compile-commands: what clangd needs to understand kernels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import Archs, DryRun, Json, Ops, use_device
from fictl.cli.outputs import writes_file_or_into_folder
from fictl.paths import friendly

if TYPE_CHECKING:
    from fictl.jit.compile_commands import Database


EXAMPLES = {
    "fictl compile-commands": "for the ops of the project here",
    "fictl compile-commands rmsnorm --arch 9.0a --out build": "of one op, into a folder",
}


def command(
    ops: Ops = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Output file, or its folder.",
            callback=writes_file_or_into_folder,
            show_default=False,
        ),
    ] = None,
    arch: Archs = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Write compile_commands.json for clangd, with the sources and headers of ops as they are built."""
    from fictl.arch import parse_archs
    from fictl.builds.building import specs_of
    from fictl.jit.compile_commands import database
    from fictl.toolchain import native_targets

    use_device("cuda")
    commands = database(specs_of(ops or []), parse_archs(arch, native_targets))
    path = _file(out)
    if not commands.commands and commands.errors:
        raise commands.errors[0]
    written = not dry_run and commands.write(path)
    for error in commands.errors:
        console.problem(error)
    data = {
        "path": str(path),
        "written": written,
        "commands": [command.to_dict() for command in commands.commands],
    }
    view = commands.text.rstrip("\n") if dry_run else _said(commands, path, written)
    if dry_run:
        console.note(f"would be {friendly(path)}")
    console.show(console.Result.among(commands.errors, data, view))


def _file(out: Path | None) -> Path:
    """Return the output file, by default where clangd looks: the project's root; fictl's own lies below the checkout's."""
    from fictl.jit.compile_commands import FILE
    from fictl.project import Project

    here = Project.at()
    place = out or (Path.cwd() if here.is_shipped else here.root)
    return (place / FILE if os.path.isdir(place) else place).absolute()


def _said(commands: Database, path: Path, written: bool) -> str:
    headers = sum(command.header for command in commands.commands)
    units = len(commands.commands) - headers
    how = "written" if written else "up to date"
    return f"{friendly(path)}  {how}: {units} sources, {headers} headers"
