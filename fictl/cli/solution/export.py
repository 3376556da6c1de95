"""fictl solution export: an op as solutions, one for each of its definitions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.one_op import one_op
from fictl.cli.options import DryRun, Json, op_names
from fictl.cli.outputs import writes_folder
from fictl.cli.solution.author import Author
from fictl.dataset.export import AUTHOR
from fictl.quantity import counted

if TYPE_CHECKING:
    from fictl.case.definitions import Traced
    from fictl.project import OpFolder
    from fictl.trace import Definition, Solution


EXAMPLES = {
    "fictl solution export rmsnorm": "into dataset/",
    "fictl solution export rmsnorm --out mine --author alice": "into a dataset of one's own",
}


def command(
    op: Annotated[
        str,
        typer.Argument(
            metavar="OP",
            help="An op or a public function.",
            autocompletion=op_names,
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Folder of a dataset, or a new one.",
            callback=writes_folder,
        ),
    ] = Path("dataset"),
    definition: Annotated[
        list[str] | None,
        typer.Option(
            "--definition",
            "-d",
            metavar="NAME",
            help="Export only these definitions, by name.",
            show_default=False,
        ),
    ] = None,
    author: Author = AUTHOR,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Write an op as solutions that carry their own sources, and its traces as definitions.

    An edited copy is evaluated as edited: nothing of the installed op runs.
    """
    from fictl.dataset.export.solution import solutions_of

    pairs = [*solutions_of(_traced(one_op(op), op), definition or (), author)]
    paths = [] if dry_run else _write(pairs, out)
    data = {
        "written": not dry_run,
        "root": str(out.absolute()),
        "solutions": [solution.name for _, solution in pairs],
        "paths": [str(path) for path in paths],
    }
    files = len(pairs[0][1].sources) if pairs else 0
    text = f"{counted(len(pairs), 'solution')} of {counted(files, 'file')} each"
    lines = [*map(str, paths), f"{text}{' would be written' if dry_run else ''}"]
    if paths:
        lines.append(f"next: fictl solution build {paths[0]}")
    console.show(console.Result(data, "\n".join(lines)))


def _write(pairs: Iterable[tuple[Definition, Solution]], out: Path) -> list[Path]:
    """Add definitions and solutions to the dataset in `out`; return where the solutions are."""
    from fictl.trace import TraceSet

    out.absolute().mkdir(parents=True, exist_ok=True)
    dataset = TraceSet.from_path(out.absolute())
    paths = []
    for definition, solution in pairs:
        dataset.add_definition(definition)
        paths.append(out / dataset.add_solution(solution).relative_to(dataset.root))
    return paths


def _traced(folder: OpFolder, text: str) -> list[Traced]:
    """Return the traces of a named function, or those of all functions of a module."""
    from fictl.case.definitions import traced

    name = text.rpartition("/")[2]
    every = [*traced([folder])]
    named = [candidate for candidate in every if candidate.name == name]
    return named if named and name != folder.module else every
