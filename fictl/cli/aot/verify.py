"""fictl aot verify: would this folder serve?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import Json
from fictl.errors import FictlError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.ship.verify import VerifiedBuild


EXAMPLES = {
    "fictl aot verify prebuilt": "on the machine that is to load them",
    "fictl aot verify prebuilt --json": "for a program",
}


def command(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder written by fictl aot build.", show_default=False
        ),
    ],
    json: Json = False,
) -> None:
    """Verify every module of a folder: bytes, ABI, architectures, and that it loads."""
    from fictl.ship.verify import verify

    checked = verify(folder)
    bad = [checked_op for checked_op in checked if checked_op.problems]
    error = None
    if bad:
        error = FictlError(
            f"{len(bad)} of {len(checked)} modules cannot be used",
            f"build them again: fictl aot build --out {folder}",
        )
    data = {"out": str(folder), "modules": [checked_op.to_dict() for checked_op in checked]}
    view = lambda out: _view(out, checked, error)  # noqa: E731
    console.show(console.Result(data, view, int(bool(bad)), error))


def _view(out: Console, checked: list[VerifiedBuild], error: FictlError | None) -> None:
    from fictl.quantity import spell_size

    for checked_op in checked:
        mark = "[red]✗[/]" if checked_op.problems else "[green]✓[/]"
        archs = " ".join(checked_op.archs)
        out.print(f"{mark} [bold]{checked_op.module}[/]  {archs}  {spell_size(checked_op.size)}")
        for problem in checked_op.problems:
            out.print(f"  {problem}", markup=False, soft_wrap=True)
    for note in sorted({note for checked_op in checked for note in checked_op.notes}):
        console.note(f"note: {note}")
    if error:
        console.problem(error)
    else:
        out.print(f"{len(checked)} module{'s' * (len(checked) != 1)}, each as it should be")
