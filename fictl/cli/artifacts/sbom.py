"""fictl artifacts sbom: what is in a snapshot, and what it was made of."""

from __future__ import annotations

from fictl.cli.artifacts.options import Folder, Snapshot
from fictl.cli.bill import BillOut, show_bill
from fictl.cli.options import Json

EXAMPLES = {
    "fictl artifacts sbom release-1": "on stdout",
    "fictl artifacts sbom release-1 --out sbom.json": "into a file",
}


def command(
    name: Snapshot,
    out: BillOut = None,
    folder: Folder = None,
    json: Json = False,
) -> None:
    """Write the bill of materials of a snapshot that is here, from its signed document alone."""
    from fictl.ship.artifacts.bill import bill_of

    show_bill(bill_of(name, folder), out)
