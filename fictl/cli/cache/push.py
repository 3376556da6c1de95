"""fictl cache push: give builds to others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.cache.moved import error_of, view
from fictl.cli.options import Device, DryRun, Json, Ops, use_device

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.builds.shared import Pushed


EXAMPLES = {
    "fictl cache push": "the builds of the project here",
    "fictl cache push rmsnorm --to s3://bucket/builds --dry-run": "what would be sent",
}


def command(
    ops: Ops = None,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="URL",
            help="Remote to send to.  [default: the first of FICTL_REMOTE that can be written]",
            show_default=False,
        ),
    ] = "",
    device: Device = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Send the cached builds of the named ops, or of every op of the project here, signed by your key.

    What the remote has already is not sent again. Builds with paths or for the CPU of this machine
    stay here. The key is that of FICTL_SIGNING_KEY; a folder of your own needs none.
    """
    from fictl.builds.shared import push_builds

    use_device(device)
    pushed = push_builds(ops or [], to, dry_run)
    data = {"dry_run": dry_run, "url": pushed.url, "builds": [m.to_dict() for m in pushed.results]}
    error = error_of(pushed.results, "fictl build makes them")
    code = error.exit_code if error else 0
    console.show(console.Result(data, lambda out: _view(out, pushed, dry_run), code, error))


def _view(out: Console, pushed: Pushed, dry_run: bool) -> None:
    view(out, pushed.results)
    new = [moved for moved in pushed.results if moved.state == "sent"]
    verb = "would send" if dry_run else "sent"
    blobs, size = sum(moved.blobs for moved in new), sum(moved.size for moved in new)
    from fictl.quantity import counted, spell_size

    files = "" if dry_run else f" ({counted(blobs, 'file')}, {spell_size(size)})"
    out.print(f"{verb} {counted(len(new), 'build')}{files} to {pushed.url}", markup=False)
