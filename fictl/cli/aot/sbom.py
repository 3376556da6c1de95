"""fictl aot sbom: what is in a folder of prebuilt modules, and what it was made of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fictl.cli.bill import BillOut, show_bill
from fictl.cli.options import Json

EXAMPLES = {
    "fictl aot sbom prebuilt": "on stdout",
    "fictl aot sbom prebuilt --out sbom.json": "into a file",
}


def command(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder written by fictl aot build.", show_default=False
        ),
    ],
    out: BillOut = None,
    json: Json = False,
) -> None:
    """Write the bill of materials of a folder: CycloneDX JSON with sources by hash and compilers."""
    from fictl.ship.sbom import sbom_of_folder

    show_bill(sbom_of_folder(folder.absolute()), out)
