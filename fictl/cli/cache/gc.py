"""fictl cache gc: make room."""

from __future__ import annotations

from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.cache.removed import result
from fictl.cli.options import DryRun, Json


def command(
    max_size: Annotated[
        str,
        typer.Option("--max-size", help="Keep at most this much, as in '10G'.", show_default=False),
    ] = "",
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than",
            help="Remove what has not been used for this long, as in '30d'.",
            show_default=False,
        ),
    ] = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Remove leftovers, old builds, then the least recently used; never what is in use."""
    from fictl.jit.cache.removal import gc
    from fictl.paths import cache_root
    from fictl.quantity import parse_age, parse_size

    size = parse_size(max_size) if max_size else None
    age = parse_age(older_than) if older_than else None
    console.show(result(gc(cache_root(), size, age, dry_run), dry_run))
