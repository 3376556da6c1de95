"""Parts of commands that write files: their flags, and the report of what they did."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl.cli import console

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.scaffold.plan.plan import Plan

Diff = Annotated[
    bool, typer.Option("--diff", help="Print what would change as a patch.", show_default=False)
]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite existing files.", show_default=False)
]
Commit = Annotated[
    bool,
    typer.Option("--commit", help="Make a git commit of these files.", show_default=False),
]


def carry_out(
    plan: Plan, command: str, *, dry_run: bool, diff: bool, commit: str = "", force: bool = True
) -> dict[str, Any]:
    """Write the plan, unless it is only to be shown; what --json says of it. `commit` is its
    message. Without `force` nothing that is there is written over.
    """
    if not force:
        plan.refuse_overwriting()
    changes = plan.changes()
    files = [{"path": plan.shown(c.path), "change": c.verb} for c in changes]
    data = {"root": str(plan.root), "files": files, "written": not (dry_run or diff)}
    if diff:
        data["diff"] = plan.diff()
    if dry_run or diff:
        return data
    from fictl.scaffold.plan.write import apply

    touched = [change.path for change in changes if change.before is not None]
    if touched:
        _warn_of_uncommitted(plan, touched)
    paths = [change.path for change in changes]
    if commit and paths:
        from fictl.scaffold.plan.git import require_repository

        require_repository(paths)
    apply(plan, command)
    if _TYPED.intersection(path.name for path in paths):
        _refresh(plan)
    if commit and paths:
        from fictl.scaffold.plan.git import commit as make_commit

        data["commit"] = make_commit(paths, commit)
    return data


# Files that say which ops there are, with which types.
_TYPED = frozenset({"op.py", "__init__.py"})


def _refresh(plan: Plan) -> None:
    """Write ops.pyi of a user's project anew; that of fictl takes longer, and `fictl check` does it."""
    from fictl.cli.stub import refresh_stub
    from fictl.project import Project

    project = Project.at(plan.root)
    if not project.is_shipped:
        refresh_stub(project)


def _warn_of_uncommitted(plan: Plan, touched: Sequence[Path]) -> None:
    from fictl.scaffold.plan.git import uncommitted

    changed = uncommitted(touched)
    if changed:
        names = ", ".join(plan.shown(path) for path in changed)
        console.note(f"warning: git has uncommitted changes in {names}; --undo brings them back")


def print_tree(out: Console, plan: Plan) -> None:
    """The plan by folder, each file with what would become of it."""
    from rich.tree import Tree

    tree = Tree(str(plan.root.name))
    folders: dict[tuple[str, ...], Any] = {(): tree}
    for change in sorted(plan.changes(), key=lambda item: item.path):
        *parents, name = plan.shown(change.path).split("/")
        for depth in range(1, len(parents) + 1):
            path = tuple(parents[:depth])
            if path not in folders:
                folders[path] = folders[path[:-1]].add(f"{path[-1]}/")
        color = {"new": "green", "changed": "yellow", "gone": "red"}[change.verb]
        folders[tuple(parents)].add(f"{name}  [{color}]{change.verb}[/]")
    out.print(tree)


def print_diff(out: Console, text: str) -> None:
    from rich.syntax import Syntax

    if out.is_terminal:
        out.print(Syntax(text, "diff", background_color="default"))
    else:
        out.print(text, markup=False, soft_wrap=True, end="")
