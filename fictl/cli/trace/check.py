"""fictl trace check: traces fit their ops, committed definitions fit their traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import DryRun, Json, Ops
from fictl.paths import friendly

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.testing.traced.trace_check import TraceFinding


EXAMPLES = {
    "fictl trace check": "fail if written definitions differ from the ops",
    "fictl trace check rmsnorm --update": "write those that differ",
}


def command(
    ops: Ops = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write the files that differ.", show_default=False)
    ] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Compare tests/trace/definitions with what the cases of ops make, and traces with their ops."""
    from fictl.case.definitions import traced
    from fictl.project import Project, select
    from fictl.testing.traced.trace_check import check, update_definitions

    every = [*traced(select(ops or [], [] if ops else [Project.at()]))]
    findings = [finding for one_traced in every for finding in check(one_traced)]
    write = update and not dry_run
    changed = update_definitions(findings) if write else []
    left = [finding for finding in findings if not (write and finding.path)]
    data = {
        "ops": [one_traced.op.api for one_traced in every],
        "findings": [finding.to_dict() for finding in left],
        "updated": [str(path) for path in changed],
    }
    code = 1 if left and not (update and dry_run) else 0

    def view(out: Console) -> None:
        for path in changed:
            out.print(f"updated {friendly(path)}", markup=False, soft_wrap=True)
        for finding in left:
            _show(out, finding)
        if not left:
            out.print(f"[green]✓[/] {len(every)} traces and their definitions fit")
        elif not update and any(finding.path for finding in left):
            out.print("fictl trace check --update writes them", style="dim")

    console.show(console.Result(data, view, code))


def _show(out: Console, finding: TraceFinding) -> None:
    out.print(f"{finding.kind}  {finding.op}: {finding.text}", markup=False, soft_wrap=True)
    for line in finding.diff.splitlines():
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
        out.print(f"    {line}", markup=False, style=style, soft_wrap=True)
