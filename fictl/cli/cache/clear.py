"""fictl cache clear: empty the cache, or throw away what belongs to some ops."""

from __future__ import annotations

from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.cache.removed import result
from fictl.cli.options import DryRun, Json, Ops

EXAMPLES = {
    "fictl cache clear rmsnorm": "the builds of an op",
    "fictl cache clear --dry-run": "what all of them are",
}


def command(
    ops: Ops = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Also remove what a running process has loaded.", show_default=False
        ),
    ] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Remove cached builds, of older versions too; those in use only with --force."""
    from fictl.builds.cached import clear_builds

    console.show(result(clear_builds(ops or [], force, dry_run), dry_run))
