"""fictl upgrade: ops as the scaffold writes them now, with what their authors changed."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.one_op import own_names, own_op, own_project
from fictl.cli.options import DryRun, Json
from fictl.cli.scaffolded import Commit, carry_out, print_diff
from fictl.errors import FictlError, UsageError
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.scaffold.existing.upgrade.op_upgrade import OpUpgrade
    from fictl.scaffold.plan.plan import Plan

EXAMPLES = {
    "fictl upgrade --dry-run": "show the patch for every op of the project",
    "fictl upgrade swish": "bring what is new in the scaffold into one op",
    "fictl upgrade --check": "exit code 1 if the scaffold writes an op differently now",
}


def command(
    ops: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="OP",
            help="Ops of the project here; default: all that have a record.",
            autocompletion=own_names,
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Change nothing; exit code 1 if an op is behind, or has unresolved conflicts.",
            show_default=False,
        ),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Write without a question.", show_default=False)
    ] = False,
    dry_run: DryRun = False,
    commit: Commit = False,
    json: Json = False,
) -> None:
    """Update ops that an older version wrote: its changes since then are merged with yours.

    The patch is shown first. Where both changed the same lines, the file gets git's marks and the
    exit code is 1. `fictl new-op --undo` undoes it.
    """
    from fictl.scaffold.existing.upgrade.upgrade import plan_upgrade, without_records

    upgrades = _examined(ops or [])
    behind = [upgrade for upgrade in upgrades if upgrade.is_behind]
    plan = plan_upgrade(own_project().top, behind)
    patch = without_records(plan).diff()
    errors = [upgrade.error for upgrade in upgrades if upgrade.error]
    writes = not (check or dry_run)
    if commit and writes:
        _refuse_conflicts(behind)
    if not (json or check) and patch:
        print_diff(console.console(), patch)
    if writes and plan.files and not (json or yes):
        _ask()
    words, names = shlex.join(["fictl", "upgrade", *(ops or [])]), ", ".join(map(str, behind))
    message = f"refactor: {names} as the scaffold writes it now" if commit else ""
    data = carry_out(plan, words, dry_run=not writes, diff=False, commit=message)
    if check:
        errors += map(_behind, behind)
    elif writes:
        errors += [_conflicts(upgrade) for upgrade in behind if upgrade.conflicts]
    data |= {"ops": [upgrade.to_dict(plan) for upgrade in upgrades], "diff": patch}

    def view(out: Console) -> None:
        for line in _lines(upgrades, plan, writes):
            out.print(line, markup=False, soft_wrap=True)
        for error in errors:
            console.problem(error)

    console.show(console.Result.among(errors, data, view))


def _examined(ops: Sequence[str]) -> list[OpUpgrade]:
    from fictl.project import folders
    from fictl.scaffold.existing.upgrade.upgrade import examine

    project = own_project()
    named = [own_op(name) for name in dict.fromkeys(ops)]
    return [examine(folder, wanted=bool(ops)) for folder in named or folders(project)]


def _ask() -> None:
    """Ask on a terminal, where the patch was just shown."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    if not typer.confirm("Write this?", default=True, err=True):
        raise FictlError("nothing was written", "fictl upgrade --yes writes without a question")


def _refuse_conflicts(behind: Sequence[OpUpgrade]) -> None:
    marked = [str(upgrade) for upgrade in behind if upgrade.conflicts]
    if marked:
        raise UsageError(
            f"--commit would commit conflicts, in {', '.join(marked)}",
            "upgrade without it, edit the marked lines, and commit",
        )


def _behind(upgrade: OpUpgrade) -> FictlError:
    return FictlError(
        f"{upgrade} is behind: {counted(len(upgrade.files), 'file')} of it differ from what is "
        f"written now; fictl {upgrade.version} wrote it",
        f"fictl upgrade {upgrade.folder.module}",
    )


def _conflicts(upgrade: OpUpgrade) -> FictlError:
    return FictlError(
        f"{upgrade} has {counted(upgrade.conflicts, 'conflict')}",
        "edit the lines between <<<<<<< and >>>>>>>, then fictl test; fictl new-op --undo goes back",
    )


def _lines(upgrades: Sequence[OpUpgrade], plan: Plan, written: bool) -> Iterator[str]:
    for upgrade in upgrades:
        if upgrade.files:
            yield f"  {upgrade}  written by fictl {upgrade.version}"
            yield from (
                f"    {plan.shown(file.path)}  {file.described()}" for file in upgrade.files
            )
    current = [upgrade for upgrade in upgrades if upgrade.status == "current"]
    unknown = [upgrade for upgrade in upgrades if upgrade.status == "no record"]
    done = counted(sum(upgrade.is_behind for upgrade in upgrades), "op")
    parts = [f"{done} upgraded" if written else f"{done} to upgrade"]
    parts += [f"{len(current)} as the scaffold writes it"] if current else []
    parts += [f"{len(unknown)} without a record of its scaffold"] if unknown else []
    yield f"  {' · '.join(parts)}"
