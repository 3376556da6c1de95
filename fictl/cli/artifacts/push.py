"""fictl artifacts push: send a snapshot to a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.artifacts.options import Folder, Snapshot, as_url, done
from fictl.cli.options import DryRun, Json

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.ship.artifacts.push import Pushed


EXAMPLES = {
    "fictl artifacts push release-1 --to s3://bucket/artifacts": "what is there already is not sent again",
    "fictl artifacts push release-1 --to file:///mnt/shared --dry-run": "what would be sent",
}


def command(
    name: Snapshot,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="URL", help="Repository: s3:// gs:// az:// file://.", show_default=False
        ),
    ],
    folder: Folder = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Send a snapshot to a repository; files that are there are not sent again."""
    from fictl.cli.transfer_bar import TransferBar
    from fictl.ship.artifacts.folder import ArtifactsFolder
    from fictl.ship.artifacts.names import split
    from fictl.ship.artifacts.push import push

    with TransferBar(quiet=json) as bar:
        at = ArtifactsFolder.at(folder)
        pushed = push(*split(name), as_url(to), at, bar, dry_run)
    data = {"dry_run": dry_run, **pushed.to_dict()}
    console.show(console.Result(data, lambda out: _view(out, pushed, dry_run)))


def _view(out: Console, pushed: Pushed, dry_run: bool) -> None:
    from fictl.quantity import counted, spell_size

    sent = f"{counted(pushed.sent, 'file')} {done('sent', dry_run)}, {spell_size(pushed.size)}"
    there = f", {pushed.present} there already" if pushed.present else ""
    out.print(
        f"[green]✓[/] {pushed.snapshot.name}@{pushed.snapshot.sha256}  {sent}{there}, "
        f"in {pushed.seconds:.1f} s",
        soft_wrap=True,
    )
    if not pushed.is_signed:
        console.note("it is not signed: only you can use it from there; see FICTL_SIGNING_KEY")
    if dry_run:
        return
    out.print(
        f"  use it: fictl artifacts pull {pushed.snapshot.name} --from {pushed.url}",
        markup=False,
        soft_wrap=True,
    )
