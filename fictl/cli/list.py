"""fictl list: what ops there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.columns import Columns
from fictl.cli.options import Archs, Json, Ops
from fictl.errors import SetupError
from fictl.quantity import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fictl.arch import Arch
    from fictl.builds.catalogue import CatalogueRow

_STYLES = {"built": "green", "stale": "yellow", "no": "dim"}

Family = Annotated[
    str,
    typer.Option("--family", metavar="FAMILY", help="List only this family.", show_default=False),
]
Search = Annotated[
    str,
    typer.Option(
        "--search",
        metavar="WORDS",
        help="List only ops with all of these words in their names or their description.",
        show_default=False,
    ),
]

EXAMPLES = {
    "fictl list --family norm": "the ops of one family",
    "fictl list --search 'paged cache'": "those whose name or description has both words",
}


def command(
    ops: Ops = None,
    family: Family = "",
    search: Search = "",
    arch: Archs = "",
    json: Json = False,
) -> None:
    """List ops: functions, dtypes, architectures, devices, and whether they are built."""
    from fictl.arch import parse_archs
    from fictl.builds.catalogue import Wanted, catalogue

    wanted = Wanted(parse_archs(arch, _present), family, search.split())
    rows = catalogue(ops or [], wanted)
    console.show(console.Result([row.to_dict() for row in rows], _view(rows)))


def _present() -> list[Arch]:
    """Architectures of the GPUs present, as `--arch native`."""
    from fictl.toolchain import visible_gpus

    gpus = visible_gpus()
    if not gpus:
        raise SetupError("--arch native: there is no GPU here", "name them, as in '8.0 9.0a'")
    return [gpu.arch for gpu in gpus]


def _view(rows: Sequence[CatalogueRow]) -> console.View:
    """Show functions by family on a terminal, in its width; on a pipe a line for each."""
    header = ("function", "dtypes", "archs", *_devices(rows), "built")
    if console.is_terminal():
        return "\n".join(_by_family(rows, header)).lstrip("\n") or "no op matches"
    lines = [(_family(row, rows), *_cells(row, header)) for row in rows]
    return console.Table(("family", *header), lines)


def _by_family(rows: Sequence[CatalogueRow], header: Sequence[str]) -> Iterator[str]:
    """Yield the functions below their family, and how many they are."""
    if not rows:
        return
    cells = [
        (row, [f"  {first}", *others]) for row in rows for first, *others in [_cells(row, header)]
    ]
    columns = Columns([[*header], *(line for _, line in cells)], console.width())
    yield from columns.lines(header, lambda cell: console.styled(cell, "bold"))
    family = ""
    for row, line in cells:
        if _family(row, rows) != family:
            family = _family(row, rows)
            yield f"\n{console.styled(family, 'bold')}"
        yield from columns.lines(line, _painted)
    yield f"\n{counted(len(rows), 'function')}"


def _painted(cell: str) -> str:
    return console.styled(cell, _STYLES.get(cell.partition(" ")[0], ""))


def _family(row: CatalogueRow, rows: Sequence[CatalogueRow]) -> str:
    """Name the project too, where there are several."""
    return f"{row.project}/{row.family}" if len({one.project for one in rows}) > 1 else row.family


def _devices(rows: Sequence[CatalogueRow]) -> tuple[str, ...]:
    """A column that says the same in every line says nothing."""
    return ("devices",) if len({row.devices for row in rows}) > 1 else ()


def _cells(row: CatalogueRow, header: Sequence[str]) -> list[str]:
    cells = {
        "function": row.function,
        "dtypes": " ".join(row.dtypes),
        "archs": row.archs,
        "devices": " ".join(row.devices),
        "built": " ".join((row.built, *row.built_archs)),
    }
    return [cells[name] for name in header]
