"""fictl artifacts push: send a snapshot to a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.artifacts.options import Folder, Snapshot, as_url
from fictl.cli.options import Json

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.ship.artifacts.push import Pushed


def command(
    name: Snapshot,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="URL", help="Repository: s3:// gs:// az:// file://.", show_default=False
        ),
    ],
    folder: Folder = None,
    json: Json = False,
) -> None:
    """Send a snapshot to a repository; files that are there are not sent again."""
    from fictl.cli.transfer_bar import TransferBar
    from fictl.ship.artifacts.folder import ArtifactsFolder
    from fictl.ship.artifacts.names import split
    from fictl.ship.artifacts.push import push

    with TransferBar(quiet=json) as bar:
        pushed = push(*split(name), as_url(to), ArtifactsFolder.at(folder), bar)
    console.show(console.Result(pushed.to_dict(), lambda out: _view(out, pushed)))


def _view(out: Console, pushed: Pushed) -> None:
    from fictl.quantity import counted, spell_size

    sent = f"{counted(pushed.sent, 'file')} sent, {spell_size(pushed.size)}"
    there = f", {pushed.present} there already" if pushed.present else ""
    out.print(
        f"[green]✓[/] {pushed.snapshot.name}@{pushed.snapshot.sha256}  {sent}{there}, "
        f"in {pushed.seconds:.1f} s",
        soft_wrap=True,
    )
    if not pushed.is_signed:
        console.note("it is not signed: only you can use it from there; see FICTL_SIGNING_KEY")
    out.print(
        f"  use it: fictl artifacts pull {pushed.snapshot.name} --from {pushed.url}",
        markup=False,
        soft_wrap=True,
    )
