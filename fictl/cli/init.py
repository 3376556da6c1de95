"""fictl init: a folder becomes a project of kernels."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl.cli import console
from fictl.cli.options import DryRun, Json
from fictl.cli.outputs import writes_folder
from fictl.cli.scaffolded import Diff, carry_out, print_diff, print_tree
from fictl.paths import friendly

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.scaffold.project.init import InitPlan


EXAMPLES = {
    "fictl init my_kernels": "a folder my_kernels with a project in it",
    "fictl init --name my_kernels --archs '8.0 9.0a'": "the folder here, compiled for two architectures",
}


def command(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="The project's folder; created if it does not exist.",
            callback=writes_folder,
            show_default=False,
        ),
    ] = Path(),
    name: Annotated[
        str,
        typer.Option(
            "--name",
            metavar="NAME",
            help="The project's import name; default: the folder's name.",
            show_default=False,
        ),
    ] = "",
    archs: Annotated[
        str,
        typer.Option(
            "--archs",
            metavar="ARCHS",
            help="Architectures to build for where there is no GPU, as in '8.0 9.0a'.",
            show_default=False,
        ),
    ] = "",
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite existing files that differ.", show_default=False),
    ] = False,
    diff: Diff = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Create a kernel project in a folder; in an existing repository, add only what is missing."""
    from fictl.scaffold.project.init import plan_init

    plan = plan_init(folder, name, archs, force)
    # Why not an empty one: --undo takes back the last that was carried out.
    idle = not plan.changes()
    data = {
        "project": plan.name,
        "advice": plan.advice,
        "guesses": [guess.to_dict() for guess in plan.guesses],
        **carry_out(plan, "fictl init", dry_run=dry_run or idle, diff=diff),
    }

    def view(out: Console) -> None:
        if diff:
            print_diff(out, data["diff"])
            return
        if dry_run and not idle:
            print_tree(out, plan)
        else:
            _written(out, plan, data["files"])
        for line in (*(f"  guess: {g.text}: {g.instead}" for g in plan.guesses), *_advice(plan)):
            out.print(line, markup=False, soft_wrap=True)

    console.show(console.Result(data, view))


def _written(out: Console, plan: InitPlan, files: list[dict[str, Any]]) -> None:
    width = max((len(file["path"]) for file in files), default=0)
    for file in files:
        note = plan.notes[plan.root / file["path"]]
        out.print(f"  {file['path'].ljust(width)}  [dim]{note}[/]", soft_wrap=True)
    out.print(_summary(plan, len(files)), markup=False, soft_wrap=True)


def _summary(plan: InitPlan, count: int) -> str:
    if not count:
        return f"  {plan.name} in {friendly(plan.root)} lacks nothing"
    here = Path.cwd()
    below = plan.root.relative_to(here) if plan.root.is_relative_to(here) else plan.root
    change = "" if plan.root == here else f"cd {shlex.quote(str(below))}      "
    files = f"{count} file{'s' if count > 1 else ''}"
    return f'  {files} · next: {change}fictl new-op my_op --expr "x * factor" --scalar factor:float'


def _advice(plan: InitPlan) -> Iterator[str]:
    for advice in plan.advice:
        first, *rest = advice.splitlines()
        yield f"  left to you: {first}"
        yield from (f"    {line}" for line in rest)
