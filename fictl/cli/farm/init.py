"""fictl farm init: a first file of places."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from fictl import settings
from fictl.cli import console
from fictl.cli.options import DryRun, Json
from fictl.cli.outputs import writes_file
from fictl.errors import UsageError
from fictl.paths import friendly

EXAMPLES = {
    "fictl farm init --ssh gpu1,gpu2": "with two hosts",
    "fictl farm init --ray head:6379 --dry-run": "with the nodes of a cluster, shown only",
}


def command(
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE",
            help="File to write; an existing one is kept.",
            callback=writes_file,
        ),
    ] = Path("places.toml"),
    ssh: Annotated[
        str,
        typer.Option(
            "--ssh",
            metavar="gpu1,gpu2",
            help="Hosts to add; others of ~/.ssh/config are commented out.",
            show_default=False,
        ),
    ] = "",
    ray: Annotated[
        str,
        typer.Option(
            "--ray",
            metavar="HOST:PORT",
            help="A running Ray cluster, whose GPUs are added by their kinds.",
            show_default=False,
        ),
    ] = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Write a file of places: the GPUs of this machine, hosts that ssh knows, a Ray cluster."""
    from fictl.farm.first_file import first_file
    from fictl.user_file import write_text

    if os.path.lexists(out):
        raise UsageError(f"{friendly(out)} exists", "name another file with --out")
    hosts = [name.strip() for name in ssh.split(",") if name.strip()]
    text = first_file(hosts, ray=ray)
    if dry_run:
        console.show(console.Result({"file": str(out), "text": text}, text.rstrip("\n")))
        return
    write_text("--out", out, text)
    hint = f"fictl farm check {out if '/' in str(out) else f'./{out}'}"
    words = f"wrote {friendly(out)} · next: {hint}, then {settings.PLACES.name}={out.absolute()}"
    console.show(console.Result({"file": str(out), "text": text}, words))
