"""Options that several commands of artifacts have, and what they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fictl import settings
from fictl.cli.outputs import writes_folder
from fictl.errors import UsageError

Snapshot = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A snapshot, or NAME@SHA256 for exactly that one.",
        show_default=False,
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--dir",
        metavar="DIR",
        help="Folder of artifacts; the default is FICTL_ARTIFACTS_DIR.",
        callback=writes_folder,
        show_default=False,
    ),
]
Place = Annotated[
    str,
    typer.Argument(
        metavar="DIR|URL",
        help="Folder of artifacts or URL of a repository; the default is this machine's folder.",
        show_default=False,
    ),
]


def repositories(urls: list[str] | None) -> list[str]:
    """Return the URLs of --from, else those of the settings; refuse to have none."""
    chosen = [as_url(text) for text in urls or settings.ARTIFACTS_REPOSITORY.get()]
    if not chosen:
        raise UsageError(
            "no repository is named to pull from",
            f"--from URL, or set {settings.ARTIFACTS_REPOSITORY.name}",
        )
    return chosen


def is_url(text: str) -> bool:
    return "://" in text


def as_url(text: str) -> str:
    """Return a URL as it is, and the path of a folder as a file:// URL."""
    return text if is_url(text) else Path(text).expanduser().absolute().as_uri()


def done(verb: str, dry_run: bool) -> str:
    """Say that files were moved, or that they would be."""
    return f"would be {verb}" if dry_run else verb
