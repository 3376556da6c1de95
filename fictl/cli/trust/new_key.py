"""fictl trust new-key: a pair of keys to sign builds with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import DryRun, Json
from fictl.paths import friendly

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.trust.new_key import KeyPair


EXAMPLES = {
    "fictl trust new-key": "into the folder of your settings",
    "fictl trust new-key ci.key": "into a file, for a build server",
}


def command(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Secret key's file; its public half goes to FILE.pub.  [default: ~/.config/fictl/signing.key]",
            show_default=False,
        ),
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Make a pair of keys in minisign's format. The secret one signs what you send; it has no password."""
    from fictl.trust.new_key import default_path, new_key

    pair = new_key((file or default_path()).expanduser().absolute(), dry_run)
    data = {"dry_run": dry_run, **pair.to_dict()}
    console.show(console.Result(data, lambda out: _view(out, pair, dry_run)))


def _view(out: Console, pair: KeyPair, dry_run: bool) -> None:
    if dry_run:
        out.print(f"would write {friendly(pair.secret)} and {friendly(pair.public)}", markup=False)
        return
    lines = (
        f"key {pair.key.id}",
        f"  secret  {friendly(pair.secret)}   keep it; export FICTL_SIGNING_KEY='{pair.secret}'",
        f"  public  {friendly(pair.public)}   others: fictl trust add NAME {pair.key.line}",
    )
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
