"""fictl dataset export: ops as a dataset that fictl and flashinfer-bench run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.numbers import whole
from fictl.cli.options import DryRun, Json, Ops
from fictl.cli.outputs import writes_folder
from fictl.cli.solution.author import Author
from fictl.dataset.export import AUTHOR
from fictl.quantity import MOST_WHOLE, counted

EXAMPLES = {
    "fictl dataset export rmsnorm --out dataset": "an op: definitions, workloads, solutions",
    "fictl dataset export --no-solutions --dry-run": "what all ops would write, without solutions",
}


def command(
    ops: Ops = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="ROOT",
            help="Folder of the dataset; existing files are kept.",
            callback=writes_folder,
        ),
    ] = Path("dataset"),
    solutions: Annotated[
        bool, typer.Option("--solutions/--no-solutions", help="Export the ops as solutions, too.")
    ] = True,
    author: Author = AUTHOR,
    max_elements: Annotated[
        int,
        whole(
            "--max-elements",
            low=0,
            high=MOST_WHOLE,
            help="Skip cases with more elements; 0 skips none.",
        ),
    ] = 0,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Write the definitions of ops, their cases as workloads, and the ops as solutions.

    Inputs that cannot be random, such as offsets and page tables, are stored as safetensors.
    """
    from fictl.case.definitions import traced
    from fictl.dataset.export.write import Export
    from fictl.project import select

    every = tuple(traced(select(ops or [])))
    exported = Export(out.absolute(), every, author, solutions, max_elements).run(dry_run)
    text = "would be written to" if dry_run else "in"
    parts = [
        counted(exported.definitions, "definition"),
        counted(exported.workloads, "workload"),
        counted(exported.files, "file") + " of tensors",
        counted(exported.solutions, "solution"),
    ]
    lines = [f"{' · '.join(parts)} {text} {out}"]
    if not dry_run:
        lines.append(f"next: fictl dataset validate {out}")
    console.show(console.Result(exported.to_dict(), "\n".join(lines)))
