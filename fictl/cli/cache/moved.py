"""Results of push and pull: one line for each build that moved, or did not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fictl.errors import FictlError
from fictl.quantity import counted, spell_size

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.builds.shared import Moved

_SIGNS = {
    "sent": "[green]✓[/]",
    "fetched": "[green]✓[/]",
    "there": "[dim]=[/]",
    "here": "[dim]=[/]",
    "kept": "[yellow]-[/]",
    "missing": "[yellow]![/]",
    "failed": "[red]✗[/]",
}


def view(out: Console, results: Sequence[Moved]) -> None:
    from rich.markup import escape

    for moved in results:
        name = f"{moved.project}/{moved.module}"
        what = " ".join(filter(None, (moved.state, spell_size(moved.size) if moved.size else "")))
        text = f"  {escape(moved.text)}" if moved.text else ""
        archs = f" {' '.join(moved.archs)}" if moved.archs else ""
        out.print(f"{_SIGNS[moved.state]} [bold]{name}[/]{archs}  {what}{text}", soft_wrap=True)


def error_of(results: Sequence[Moved], remedy: str) -> FictlError | None:
    """Return the error of the command: of the first build that failed, else about missing ones."""
    failed = next((moved.error for moved in results if moved.error), None)
    missing = [moved for moved in results if moved.state == "missing"]
    if failed is None and missing:
        first = f"{missing[0].module}: {missing[0].text}"
        return FictlError(f"{counted(len(missing), 'module')} missing; {first}", remedy)
    return failed
