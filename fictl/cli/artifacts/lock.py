"""fictl artifacts lock: pin the builds of a snapshot, or compare the pins with the sources."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.artifacts.options import Folder
from fictl.cli.options import DryRun, Json
from fictl.cli.outputs import writes_file
from fictl.errors import FictlError
from fictl.paths import friendly

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.ship.lock_file import Drift


EXAMPLES = {
    "fictl artifacts lock release-1": "write fictl.lock",
    "fictl artifacts lock --check": "fail if sources and lock differ",
}


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A snapshot, or NAME@SHA256; the default is the newest one of the lock's name.",
            show_default=False,
        ),
    ] = "",
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Write nothing; exit code 1 if the project's sources and its lock differ.",
            show_default=False,
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The lock file; the default is fictl.lock of this project.",
            callback=writes_file,
            show_default=False,
        ),
    ] = None,
    folder: Folder = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Write fictl.lock: the hashes of all builds of a snapshot, the only ones to load with --locked."""
    from fictl.quantity import counted
    from fictl.ship.lock_file import lock_path, locked_by, write_lock

    path = out or lock_path()
    if check:
        _check(path)
        return
    signed = locked_by(name, path, folder)
    changed = write_lock(path, signed.snapshot, dry_run)
    snapshot = signed.snapshot
    data = {
        "dry_run": dry_run,
        "path": str(path),
        "snapshot": snapshot.name,
        "sha256": snapshot.sha256,
        "builds": len(snapshot.documents),
        "changed": changed,
    }
    done = "pinned already" if not changed else "would pin" if dry_run else "pins"
    builds = counted(len(snapshot.documents), "build")
    text = f"{friendly(path)} {done} {snapshot.name}@{snapshot.sha256}: {builds}"
    console.show(console.Result(data, text))


def _check(path: Path) -> None:
    from fictl.jit.lock_file import read_lock
    from fictl.ship.lock_file import drifts

    lock = read_lock(path)
    differences = drifts(lock, [])
    error = None
    if differences:
        error = FictlError(
            f"{path} and the sources differ in {len(differences)} modules",
            "fictl artifacts build NAME, then fictl artifacts lock NAME",
        )
    data = {"path": str(path), "drifts": [vars(one) for one in differences]}
    view = lambda out: _view(out, path, differences, error)  # noqa: E731
    console.show(console.Result(data, view, int(error is not None), error))


def _view(out: Console, path: Path, drifts: list[Drift], error: FictlError | None) -> None:
    for drift in drifts:
        out.print(f"[red]✗[/] [bold]{drift.name}[/]  {drift.problem}", soft_wrap=True)
    if error:
        console.problem(error)
    else:
        out.print(f"[green]✓[/] {friendly(path)} has every module as its sources are now")
