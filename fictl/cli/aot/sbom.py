"""fictl aot sbom: what is in a folder of prebuilt modules, and what it was made of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.options import Json
from fictl.cli.outputs import writes_file_and_folders
from fictl.paths import friendly


def command(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder written by fictl aot build.", show_default=False
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Output file; without it, stdout.",
            callback=writes_file_and_folders,
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write the bill of materials of a folder: CycloneDX JSON with sources by hash and compilers."""
    from json import loads

    from fictl.ship.sbom import sbom_of_folder
    from fictl.user_file import write_text

    text = sbom_of_folder(folder.absolute())
    if out is not None:
        write_text("--out", out, text)
    view = f"wrote {friendly(out)}" if out else text.rstrip()
    console.show(console.Result({"out": str(out or ""), "sbom": loads(text)}, view))
