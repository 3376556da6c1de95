"""fictl cache verify: read every byte, find what is corrupt."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.cache import at_remote
from fictl.cli.cache.at_remote import Remote
from fictl.cli.options import Json
from fictl.errors import FictlError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.jit.cache.integrity import Integrity


EXAMPLES = {
    "fictl cache verify": "every hash",
    "fictl cache verify --repair": "remove what is corrupt, too",
}


def command(
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Remove what is corrupt; its next use rebuilds it.", show_default=False
        ),
    ] = False,
    remote: Remote = False,
    json: Json = False,
) -> None:
    """Verify the hashes of every build, object and record. Exit code 1 if one is corrupt.

    Of a remote, every byte is read, and every signature; builds that were made twice with different
    bytes are named.
    """
    from fictl.builds.cached import verify

    if remote:
        from fictl.builds.remote_store import audit_remote

        if repair:
            raise UsageError(
                "--repair is for the cache here",
                "without it, damaged files of a remote are named: remove them there, and "
                "fictl cache push sends them again",
            )
        console.show(at_remote.audit(audit_remote()))
        return

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
