"""fictl remove-op: delete an op, exactly its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.one_op import OwnOp, lines_by_folder, own_op
from fictl.cli.options import DryRun, Json
from fictl.cli.scaffolded import Commit, Diff, carry_out, print_diff, print_tree
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console


EXAMPLES = {
    "fictl remove-op swish --dry-run": "show what would go",
    "fictl remove-op swish --commit": "delete it, and commit that",
}


def command(
    op: OwnOp,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Also delete files that do not belong to the op.", show_default=False
        ),
    ] = False,
    dry_run: DryRun = False,
    diff: Diff = False,
    commit: Commit = False,
    json: Json = False,
) -> None:
    """Delete the files of an op, and nothing else; refused while another op uses it.

    `fictl new-op --undo` undoes it.
    """
    from fictl.scaffold.existing.remove import plan_remove
    from fictl.scaffold.record import FILE as RECORD

    folder = own_op(op)
    plan = plan_remove(folder, everything=force)
    message = f"refactor: {folder} is removed" if commit else ""
    data = carry_out(plan, f"fictl remove-op {op}", dry_run=dry_run, diff=diff, commit=message)

    shown = [path for path in plan.files if path.name != RECORD]

    def view(out: Console) -> None:
        if diff:
            print_diff(out, data["diff"])
        elif dry_run:
            print_tree(out, plan)
        else:
            for line in lines_by_folder(plan, shown):
                out.print(line, markup=False, soft_wrap=True)
            undo = "fictl new-op --undo brings them back"
            out.print(f"  {counted(len(shown), 'file')} deleted · {undo}", soft_wrap=True)

    console.show(console.Result({"op": str(folder), **data}, view))
