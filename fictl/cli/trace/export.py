"""fictl trace export: definitions as files, for flashinfer-bench and its datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.options import DryRun, Json, Ops
from fictl.cli.outputs import writes_folder

EXAMPLES = {
    "fictl trace export rmsnorm": "into definitions/",
    "fictl trace export --out definitions --dry-run": "which files all ops make",
}


def command(
    ops: Ops = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Output folder; files are <op_type>/<name>.json.",
            callback=writes_folder,
        ),
    ] = Path("definitions"),
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Write one definition for each set of constant sizes and dtypes in the cases of ops."""
    from fictl.case.definitions import export, traced
    from fictl.paths import friendly
    from fictl.project import select

    written = export(traced(select(ops or [])), out.absolute(), dry_run)
    data = {"written": not dry_run, "paths": [str(path) for path in written]}
    view = "\n".join(
        [
            *(friendly(path) for path in written),
            f"{len(written)} definitions" + (" would be written" if dry_run else ""),
        ]
    )
    console.show(console.Result(data, view))
