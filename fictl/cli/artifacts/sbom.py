"""fictl artifacts sbom: what is in a snapshot, and what it was made of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.artifacts.options import Folder, Snapshot
from fictl.cli.options import Json
from fictl.cli.outputs import writes_file_and_folders
from fictl.paths import friendly


def command(
    name: Snapshot,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Output file; without it, stdout.",
            callback=writes_file_and_folders,
            show_default=False,
        ),
    ] = None,
    folder: Folder = None,
    json: Json = False,
) -> None:
    """Write the bill of materials of a snapshot that is here, from its signed document alone."""
    from json import loads

    from fictl.ship.artifacts.bill import bill_of
    from fictl.user_file import write_text

    text = bill_of(name, folder)
    if out is not None:
        write_text("--out", out, text)
    view = f"wrote {friendly(out)}" if out else text.rstrip()
    console.show(console.Result({"out": str(out or ""), "sbom": loads(text)}, view))
