"""fictl rename-op: another name, or another family, for an op and all that uses it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.one_op import OwnOp, lines_by_folder, own_op
from fictl.cli.options import DryRun, Json
from fictl.cli.scaffolded import Commit, Diff, carry_out, print_diff, print_tree
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.scaffold.existing.rename import Renamed
    from fictl.scaffold.plan.plan import FileChange

_SHOWN = 10


EXAMPLES = {
    "fictl rename-op swish swish_beta --dry-run": "show what would change",
    "fictl rename-op swish --family activation": "move it to another family",
}


def command(
    op: OwnOp,
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="New name; default: the old one.", show_default=False),
    ] = "",
    family: Annotated[
        str,
        typer.Option(
            "--family", metavar="FAMILY", help="Family to move the op to.", show_default=False
        ),
    ] = "",
    dry_run: DryRun = False,
    diff: Diff = False,
    commit: Commit = False,
    json: Json = False,
) -> None:
    """Rename an op: its files, the names in them, and the other ops' code that uses it.

    Mentions in prose are listed, not changed. `fictl new-op --undo` undoes it.
    """
    from fictl.scaffold.existing.rename import plan_rename

    folder = own_op(op)
    renamed = plan_rename(folder, name or folder.module, family)
    changes = renamed.plan.changes()
    words = ["fictl", "rename-op", op, *filter(None, [name])]
    if family:
        words += ["--family", family]
    message = f"refactor: {folder} is {renamed.folder}" if commit else ""
    data = carry_out(renamed.plan, shlex.join(words), dry_run=dry_run, diff=diff, commit=message)
    data = {
        "op": str(folder),
        "renamed": str(renamed.folder),
        **data,
        "left_alone": [mention.to_dict() for mention in renamed.left_alone],
    }

    def view(out: Console) -> None:
        if diff:
            print_diff(out, data["diff"])
            return
        if dry_run:
            print_tree(out, renamed.plan)
        else:
            _print_done(out, renamed, changes)
        _print_left_alone(out, renamed)

    console.show(console.Result(data, view))


def _print_done(out: Console, renamed: Renamed, changes: tuple[FileChange, ...]) -> None:
    from fictl.scaffold.record import FILE as RECORD

    plan = renamed.plan
    there = [c for c in changes if c.after is not None and c.path.name != RECORD]
    moved = [change.path for change in there if change.path in plan.origins]
    others = [change.path for change in there if change.path not in plan.origins]
    for line in (*lines_by_folder(plan, moved), *lines_by_folder(plan, others)):
        out.print(line, markup=False, soft_wrap=True)
    also = f", {counted(len(others), 'other')} changed" if others else ""
    next_ = f"next: fictl test {renamed.folder.module}"
    out.print(f"  {counted(len(moved), 'file')} moved{also} · {next_}", soft_wrap=True)


def _print_left_alone(out: Console, renamed: Renamed) -> None:
    mentions = renamed.left_alone
    for mention in mentions[:_SHOWN]:
        out.print("  [yellow]left alone:[/]", end=" ")
        place = f"{renamed.plan.shown(mention.path)}:{mention.line}"
        out.print(f"{place}  {mention.text}", markup=False, soft_wrap=True)
    if len(mentions) > _SHOWN:
        out.print(f"  … and {counted(len(mentions) - _SHOWN, 'line')} more: --json has them all")
