"""fictl profile-diff: two profiles side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import Json

if TYPE_CHECKING:
    from rich.console import Console

EXAMPLES = {
    "fictl profile-diff before.json after.json": "what an edit changed",
    "fictl profile-diff before.json after.json --json": "every number, for a script",
}


def command(
    before: Annotated[
        Path, typer.Argument(metavar="A", help="Output of fictl profile OP --json, before.")
    ],
    after: Annotated[Path, typer.Argument(metavar="B", help="The same of the run after.")],
    json: Json = False,
) -> None:
    """Show what changed between two profiles: which kernel, which stall, which bytes.

    A and B are the output of `fictl profile OP --json`, with the same --tool. Needs no GPU.
    """
    from fictl.profile.difference.difference import difference
    from fictl.profile.difference.saved import load

    result = difference(load(before), load(after))

    def view(out: Console) -> None:
        from fictl.cli._profile.difference_view import show

        show(out, result)

    console.show(console.Result(result.to_dict(), view))
