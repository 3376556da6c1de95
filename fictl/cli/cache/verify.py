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
            "--repair", help="Remove what is corrupt: its next use builds it.", show_default=False
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Compare every build, object and record of every store with its hash; exit 1 if one is corrupt."""
    from fictl.builds.cached import verify

    found = verify(repair)
    standing = [broken for broken in found.broken if not broken.removed]
    data = {"checked": found.checked, "corrupt": [asdict(broken) for broken in found.broken]}
    error = None
    if standing:
        error = FictlError(
            f"{len(standing)} of {found.checked} are corrupt",
            "fictl cache verify --repair removes them from the cache; a read-only store is mended "
            "where it was made",
        )
    view = lambda out: _view(out, found, error)  # noqa: E731
    console.show(console.Result("cache.verify", data, view, int(bool(standing)), error))


def _view(out: Console, found: Integrity, error: FictlError | None) -> None:
    for broken in found.broken:
        what = "removed" if broken.removed else "corrupt"
        out.print(f"{what} {broken.path}: {broken.problem}", markup=False, soft_wrap=True)
    if error:
        console.problem(error)
    else:
        out.print(
            f"[green]✓[/] {found.checked} builds, objects and records are as they were written"
        )
