"""fictl dataset collect: the calls of dumps as workloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import DryRun, Json
from fictl.cli.outputs import writes_folder
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.tracing.dumps import CollectedDumps

EXAMPLES = {
    "fictl dataset collect fictl_dumps --out dataset": "one workload for each sizes of each op",
    "fictl dataset collect fictl_dumps --policy keep_all --dry-run": "every call; count them only",
}


def command(
    dumps: Annotated[
        list[Path],
        typer.Argument(metavar="DUMP", help="A dump of FICTL_LOGLEVEL=10, or a folder of them."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="ROOT",
            help="Folder of the dataset; existing files are kept.",
            callback=writes_folder,
        ),
    ] = Path("dataset"),
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            metavar="POLICY",
            help="Calls to keep: keep_first_by_axes, keep_first_by_lengths, keep_first_k, sample, "
            "keep_all.",
        ),
    ] = "keep_first_by_axes",
    inputs: Annotated[
        str,
        typer.Option(
            "--inputs",
            metavar="INPUTS",
            help="Tensors to store, the others are random: dump_integers, dump_all, dump_none.",
        ),
    ] = "dump_integers",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Make workloads, and the definitions that they need, of dumped calls.

    Lengths of sequences are kept as numbers. FICTL_TRACING collects from a running program.
    """
    from fictl.tracing import TracingConfig
    from fictl.tracing.dumps import collect_dumps

    collected = collect_dumps(dumps, out.absolute(), TracingConfig(inputs, policy), dry_run)
    errors = [error for _, error in collected.refused]
    result = console.Result.among(
        errors, collected.to_dict(), lambda output: _view(output, collected, out)
    )
    console.show(result)


def _view(output: Console, collected: CollectedDumps, out: Path) -> None:
    for name, error in collected.refused:
        console.note(f"left out: {name}")
        console.problem(error)
    text = "would be written to" if collected.dry_run else "in"
    parts = [
        counted(collected.dumps, "dump"),
        counted(collected.workloads, "new workload"),
        counted(len(collected.definitions), "definition"),
    ]
    output.print(f"{' · '.join(parts)} {text} {out}", markup=False, soft_wrap=True)
    if collected.workloads and not collected.dry_run:
        output.print(f"next: fictl dataset validate {out}", markup=False, soft_wrap=True)
