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


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="What aot build filled.", show_default=False)
    ],
    json: Json = False,
) -> None:
    """Check every module of a folder: its bytes, its ABI, the code it claims, that it loads."""
    from fictl.ship.verify import verify

    checked = verify(folder)
    bad = [each for each in checked if each.problems]
    error = None
    if bad:
        error = FictlError(
            f"{len(bad)} of {len(checked)} modules cannot be used",
            f"build them again: fictl aot build --out {folder}",
        )
    data = {"out": str(folder), "modules": [each.to_dict() for each in checked]}
    view = lambda out: _view(out, checked, error)  # noqa: E731
    console.show(console.Result("aot.verify", data, view, int(bool(bad)), error))


def _view(out: Console, checked: list[VerifiedBuild], error: FictlError | None) -> None:
    from fictl.quantity import spell_size

    for each in checked:
        mark = "[red]✗[/]" if each.problems else "[green]✓[/]"
        archs = " ".join(each.archs)
        out.print(f"{mark} [bold]{each.module}[/]  {archs}  {spell_size(each.size)}")
        for problem in each.problems:
            out.print(f"  {problem}", markup=False, soft_wrap=True)
    for note in sorted({note for each in checked for note in each.notes}):
        console.note(f"note: {note}")
    if error:
        console.problem(error)
    else:
        out.print(f"{len(checked)} module{'s' * (len(checked) != 1)}, each as it should be")
