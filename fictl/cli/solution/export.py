"""fictl solution export: an op as solutions, one for each of its definitions."""

from __future__ import annotations

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
            "--out", help="The folder; a dataset's, or a new one.", callback=writes_folder
        ),
    ] = Path("dataset"),
    definition: Annotated[
        list[str] | None,
        typer.Option("--definition", "-d", help="These alone, by name.", show_default=False),
    ] = None,
    author: Author = AUTHOR,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Write an op as solutions that carry their own sources, and its traces as definitions.

    Edit the copy, and it is judged as edited: nothing of the op that is installed runs.
    """
    from fictl.dataset.export.solution import solutions_of
    from fictl.trace import TraceSet

    pairs = [*solutions_of(_traced(one_op(op), op), definition or (), author)]
    root = out.absolute()
    paths = []
    if not dry_run:
        root.mkdir(parents=True, exist_ok=True)
        dataset = TraceSet.from_path(root)
        for made, solution in pairs:
            dataset.add_definition(made)
            paths.append(out / dataset.add_solution(solution).relative_to(dataset.root))
    data = {
        "written": not dry_run,
        "root": str(root),
        "solutions": [solution.name for _, solution in pairs],
        "paths": [str(path) for path in paths],
    }
    files = len(pairs[0][1].sources) if pairs else 0
    said = f"{counted(len(pairs), 'solution')} of {counted(files, 'file')} each"
    lines = [*map(str, paths), f"{said}{' would be written' if dry_run else ''}"]
    if paths:
        lines.append(f"next: fictl solution build {paths[0]}")
    console.show(console.Result("solution.export", data, "\n".join(lines)))


def _traced(folder: OpFolder, said: str) -> list[Traced]:
    """Of a function that is named, its own; of a module, those of all its functions."""
    from fictl.case.definitions import traced

    name = said.rpartition("/")[2]
    every = [*traced([folder])]
    named = [each for each in every if each.name == name]
    return named if named and name != folder.module else every
