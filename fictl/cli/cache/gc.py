"""fictl cache gc: make room."""

from __future__ import annotations

from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.cache import at_remote
from fictl.cli.cache.at_remote import Remote
from fictl.cli.cache.removed import result
from fictl.cli.options import DryRun, Json
from fictl.errors import UsageError

EXAMPLES = {
    "fictl cache gc --max-size 10G": "the least recently used go first",
    "fictl cache gc --older-than 30d --dry-run": "what was not used for a month",
}


def command(
    max_size: Annotated[
        str,
        typer.Option(
            "--max-size",
            metavar="SIZE",
            help="Keep at most this much, as in '10G'.",
            show_default=False,
        ),
    ] = "",
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than",
            metavar="AGE",
            help="Remove what has not been used for this long, as in '30d'; of a remote, what was sent before.",
            show_default=False,
        ),
    ] = "",
    remote: Remote = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Remove leftovers, old builds, then the least recently used; never what is in use.

    In a remote, what no build names any more is removed once it is 7 days old: it may belong to a
    build that somebody is sending.
    """
    from fictl.jit.cache.removal import gc
    from fictl.paths import cache_root
    from fictl.quantity import parse_age, parse_size

    size = parse_size(max_size) if max_size else None
    age = parse_age(older_than) if older_than else None
    if remote:
        from fictl.builds.remote_store import sweep_remote

        if size is not None:
            raise UsageError("--max-size is for the cache here", "--older-than is for a remote")
        console.show(at_remote.sweep(sweep_remote(age, dry_run), dry_run))
        return
    console.show(result(gc(cache_root(), size, age, dry_run), dry_run))
