"""fictl cache verify: read every byte, find what is corrupt."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import Json
from fictl.errors import FictlError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.jit.cache.integrity import Integrity


def command(
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Remove what is corrupt; its next use rebuilds it.", show_default=False
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Verify the hashes of every build, object and record. Exit code 1 if one is corrupt."""
    from fictl.builds.cached import verify

    integrity = verify(repair)
    standing = [broken for broken in integrity.broken if not broken.removed]
    data = {
        "checked": integrity.checked,
        "corrupt": [asdict(broken) for broken in integrity.broken],
    }
    error = None
    if standing:
        error = FictlError(
            f"{len(standing)} of {integrity.checked} are corrupt",
            "fictl cache verify --repair removes them from the cache; a read-only store is mended "
            "where it was made",
        )
    view = lambda out: _view(out, integrity, error)  # noqa: E731
    console.show(console.Result(data, view, int(bool(standing)), error))


def _view(out: Console, integrity: Integrity, error: FictlError | None) -> None:
    for broken in integrity.broken:
        what = "removed" if broken.removed else "corrupt"
        out.print(f"{what} {broken.path}: {broken.problem}", markup=False, soft_wrap=True)
    if error:
        console.problem(error)
    else:
        out.print(
            f"[green]✓[/] {integrity.checked} builds, objects and records are as they were written"
        )
