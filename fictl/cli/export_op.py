"""fictl export-op: an op as a folder that stands alone."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.one_op import lines_by_folder, one_op
from fictl.cli.options import DryRun, Json
from fictl.cli.outputs import writes_folder
from fictl.cli.scaffolded import Diff, carry_out, print_diff, print_tree
from fictl.paths import friendly
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console


def command(
    op: Annotated[
        str,
        typer.Argument(metavar="OP", help="An op; project/op names one project's."),
    ],
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Folder to create; it may exist if it is empty.",
            callback=writes_folder,
            show_default=False,
        ),
    ],
    name: Annotated[
        str,
        typer.Option(
            "--name",
            help="Name of the new project; default: the op's project, or OP_kernels for a shipped op.",
            show_default=False,
        ),
    ] = "",
    dry_run: DryRun = False,
    diff: Diff = False,
    json: Json = False,
) -> None:
    """Copy an op into a project of its own, with everything it needs besides fictl.

    The copy includes the project headers that it needs, the ops that it uses, and what its
    family shares; fictl's own building blocks stay in fictl.
    """
    from fictl.scaffold.existing.export import plan_export

    source = one_op(op)
    plan = plan_export(source, folder, name)
    command = shlex.join(["fictl", "export-op", op, str(folder)])
    data = carry_out(plan, command, dry_run=dry_run, diff=diff)

    def view(out: Console) -> None:
        if diff:
            print_diff(out, data["diff"])
        elif dry_run:
            print_tree(out, plan)
        else:
            for line in lines_by_folder(plan, plan.files):
                out.print(line, markup=False, soft_wrap=True)
            count = f"{counted(len(plan.files), 'file')} in {friendly(plan.root)}"
            next_ = f"cd {shlex.quote(str(folder))}      fictl test {source.module}"
            out.print(f"  {count} · next: {next_}", markup=False, soft_wrap=True)

    console.show(console.Result({"op": str(source), **data}, view))
