"""fictl artifacts mirror: copy snapshots from one repository to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.artifacts.options import as_url, done
from fictl.cli.options import DryRun, Json

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.ship.artifacts.mirror import Mirrored


EXAMPLES = {
    "fictl artifacts mirror https://example.com/artifacts s3://ours": "all snapshots",
    "fictl artifacts mirror s3://theirs /mnt/usb release-1": "one, to carry it to machines without a network",
}


def command(
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="Repository to copy from.", show_default=False)
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TO",
            help="Folder, or bucket: s3:// gs:// az:// file://.",
            show_default=False,
        ),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Snapshots, as NAME or NAME@SHA256; the default is all.",
            show_default=False,
        ),
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Copy snapshots with all their builds. Only what differs is copied; no key is needed."""
    from fictl.cli.transfer_bar import TransferBar
    from fictl.ship.artifacts.mirror import mirror

    with TransferBar(quiet=json) as bar:
        result = mirror(as_url(source), as_url(target), names or [], bar, dry_run)
    errors = [result.error] if result.error else []
    data = {"dry_run": dry_run, **result.to_dict()}
    console.show(console.Result.among(errors, data, lambda out: _view(out, result, dry_run)))


def _view(out: Console, result: Mirrored, dry_run: bool) -> None:
    from fictl.quantity import counted, spell_size

    for entry in result.copied:
        out.print(f"[green]✓[/] {entry.name}@{entry.sha256}", soft_wrap=True)
    for entry, reason in result.failed:
        out.print(f"[red]✗[/] {entry.name}@{entry.sha256}  ", end="", soft_wrap=True)
        out.print(reason, markup=False, soft_wrap=True)
    there = f", {counted(len(result.present), 'snapshot')} there already" if result.present else ""
    out.print(
        f"{counted(len(result.copied), 'snapshot')} {done('copied', dry_run)}: {counted(result.files, 'file')}, "
        f"{spell_size(result.size)}, in {result.seconds:.1f} s{there}",
        soft_wrap=True,
    )
    if result.error:
        console.problem(result.error)
