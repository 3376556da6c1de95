"""fictl artifacts verify: would these snapshots serve here?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.cli.artifacts.options import Place
from fictl.cli.options import Json

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.errors import FictlError
    from fictl.ship.artifacts.check import CheckedBuild, CheckedSnapshot


EXAMPLES = {
    "fictl artifacts verify": "of this machine",
    "fictl artifacts verify https://example.com/artifacts": "of a repository",
}


def command(place: Place = "", json: Json = False) -> None:
    """Verify snapshots: signatures, every byte, and which builds this machine can load.

    A folder is verified without a network; what a repository has is fetched for it.
    """
    from fictl.cli.transfer_bar import TransferBar
    from fictl.ship.artifacts.check import require_good
    from fictl.ship.artifacts.listing import check

    with TransferBar(quiet=json) as bar:
        snapshots = check(place, bar)
    error = require_good(snapshots)
    data = {"snapshots": [{**one.to_dict(), "ok": one.is_good} for one in snapshots]}
    view = lambda out: _view(out, snapshots, error)  # noqa: E731
    console.show(console.Result(data, view, int(error is not None), error))


def _view(out: Console, snapshots: list[CheckedSnapshot], error: FictlError | None) -> None:
    for snapshot in snapshots:
        mark = "[green]✓[/]" if snapshot.is_good else "[red]✗[/]"
        out.print(f"{mark} [bold]{snapshot.name}[/]@{snapshot.sha256}  {snapshot.signature}")
        for problem in snapshot.problems:
            out.print(f"  {problem}", markup=False, soft_wrap=True)
        for build in snapshot.builds:
            _build(out, build)
        if snapshot.newer:
            out.print(f"  {snapshot.newer} of its builds only a newer fictl can read")
    for note in sorted({note for one in snapshots for build in one.builds for note in build.notes}):
        console.note(f"note: {note}")
    if error:
        console.problem(error)
    elif not snapshots:
        out.print("there is no snapshot")


def _build(out: Console, build: CheckedBuild) -> None:
    from fictl.quantity import spell_size

    if build.problems:
        mark, fits = "[red]✗[/]", ""
    elif build.unfit:
        mark, fits = "[dim]-[/]", f"not for this machine: {build.unfit}"
    else:
        mark, fits = "[green]✓[/]", "loads here" if build.is_here else "was not brought"
    words = (f"{build.project}/{build.module}", " ".join(build.archs) or "emulated", build.platform)
    out.print(f"  {mark} {'  '.join(words)}  {spell_size(build.size)}  {fits}", soft_wrap=True)
    for problem in build.problems:
        out.print(f"    {problem}", markup=False, soft_wrap=True)
