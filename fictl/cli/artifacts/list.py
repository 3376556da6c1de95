"""fictl artifacts list: the snapshots of a folder or a repository."""

from __future__ import annotations

from fictl.cli import console
from fictl.cli.artifacts.options import Place
from fictl.cli.options import Json

EXAMPLES = {
    "fictl artifacts list": "of this machine",
    "fictl artifacts list s3://bucket/artifacts": "of a repository",
}


def command(place: Place = "", json: Json = False) -> None:
    """List snapshots, newest first: of this machine's folder, or of a repository by its index."""
    from fictl.quantity import spell_size
    from fictl.ship.artifacts.listing import listed

    snapshots = listed(place)
    columns = ("snapshot", "made", "builds", "size", "sha256", "signature")
    rows = [
        (
            row.name,
            row.created,
            str(row.builds),
            spell_size(row.size),
            row.sha256,
            row.signature,
        )
        for row in snapshots
    ]
    view = console.Table(columns, rows) if rows else "there is no snapshot"
    console.show(console.Result([row.to_dict() for row in snapshots], view))
