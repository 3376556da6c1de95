"""fictl artifacts pull: bring the builds of a snapshot that this machine can load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.artifacts.options import Folder, done, repositories
from fictl.cli.options import Archs, DryRun, Json
from fictl.paths import friendly

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.ship.artifacts.pull import Pulled


EXAMPLES = {
    "fictl artifacts pull": "the snapshot that fictl.lock names",
    "fictl artifacts pull release-1 --from https://example.com/artifacts": "a named one",
}


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A snapshot, or NAME@SHA256; the default is the one that fictl.lock names.",
            show_default=False,
        ),
    ] = "",
    urls: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="URL",
            help="Repository, also several; the default is FICTL_ARTIFACTS_REPOSITORY.",
            show_default=False,
        ),
    ] = None,
    arch: Archs = "",
    everything: Annotated[
        bool,
        typer.Option("--all", help="Also builds for other machines than this.", show_default=False),
    ] = False,
    folder: Folder = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Bring a snapshot's builds for this machine; an interrupted pull goes on where it ended."""
    from fictl.arch import parse_archs
    from fictl.cli.transfer_bar import TransferBar
    from fictl.ship.artifacts.folder import ArtifactsFolder
    from fictl.ship.artifacts.pull import pull
    from fictl.ship.lock_file import pinned
    from fictl.toolchain import native_targets

    wanted = pinned(name)
    archs = parse_archs(arch, native_targets)
    with TransferBar(quiet=json) as bar:
        at = ArtifactsFolder.at(folder)
        pulled = pull(*wanted, repositories(urls), archs, everything, at, bar, dry_run)
    errors = [pulled.error] if pulled.error else []
    data = {"dry_run": dry_run, **pulled.to_dict()}
    console.show(console.Result.among(errors, data, lambda out: _view(out, pulled, dry_run)))


def _view(out: Console, pulled: Pulled, dry_run: bool) -> None:
    from fictl.quantity import counted, spell_size

    mark = "[red]✗[/]" if pulled.missing else "[green]✓[/]"
    rate = (
        f", {spell_size(pulled.size / pulled.seconds)}/s" if pulled.brought and not dry_run else ""
    )
    there = f", {pulled.present} here already" if pulled.present else ""
    others = f", {pulled.others} for other machines" if pulled.others else ""
    out.print(
        f"{mark} {pulled.snapshot.name}@{pulled.snapshot.sha256}  {pulled.signed}", soft_wrap=True
    )
    out.print(
        f"  {counted(pulled.brought, 'build')} {done('brought', dry_run)} ({spell_size(pulled.size)}{rate})"
        f"{there}{others}, in {friendly(pulled.folder)}",
        soft_wrap=True,
    )
    if pulled.error:
        console.problem(pulled.error)
