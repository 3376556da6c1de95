"""The bill of materials as a command prints or writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.outputs import writes_file_and_folders
from fictl.paths import friendly

BillOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Output file; without it, stdout.",
        callback=writes_file_and_folders,
        show_default=False,
    ),
]


def show_bill(text: str, out: Path | None) -> None:
    """Write the text to `out`, if there is one, else print it."""
    from fictl.user_file import write_text

    if out is not None:
        write_text("--out", out, text)
    view = f"wrote {friendly(out)}" if out else text.rstrip()
    console.show(console.Result({"out": str(out or ""), "sbom": json.loads(text)}, view))
