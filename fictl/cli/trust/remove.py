"""fictl trust remove: believe a key no more."""

from __future__ import annotations

from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.options import DryRun, Json

EXAMPLES = {
    "fictl trust remove alice": "by name",
    "fictl trust remove alice --dry-run": "which key that is",
}


def command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the key, or its id.", show_default=False)
    ],
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Trust a key no longer. Builds that were taken before stay: fictl cache clear removes them."""
    from fictl.trust.keys_file import keys_path, remove

    gone = remove(name, dry_run)
    data = {"dry_run": dry_run, "file": str(keys_path()), **gone.to_dict()}
    how = "would be trusted no longer" if dry_run else "is trusted no longer"
    console.show(console.Result(data, f"{gone.name} ({gone.public.id}) {how}"))
