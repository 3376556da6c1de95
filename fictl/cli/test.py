"""fictl test: run an op's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl.cli import console
from fictl.cli.options import Json, Ops

if TYPE_CHECKING:
    from rich.console import Console


def command(
    ops: Ops = None,
    keyword: Annotated[
        str,
        typer.Option("-k", help="Only tests whose name matches, as in pytest.", show_default=False),
    ] = "",
    json: Json = False,
) -> None:
    """Test ops: their own tests, that they build, and that they compute their reference."""
    from fictl.project import Project, select
    from fictl.testing.run import run_tests

    wanted = select(ops or [], [] if ops else [Project.at()])
    say = (lambda line: None) if json else console.note
    report = run_tests(wanted, say, ["-k", keyword] if keyword else [])
    data = {
        "passed": report.passed,
        "failed": list(report.failed),
        "skipped": report.skipped,
        "seconds": round(report.seconds, 2),
    }
    console.show(console.Result("test", data, lambda out: _view(out, report), report.exit_code))


def _view(out: Console, report: Any) -> None:
    mark = {0: "[green]✓[/]", 1: "[red]✗[/]", 3: "[yellow]![/]"}[report.exit_code]
    failed = f" · [red]{len(report.failed)} failed[/]" if report.failed else ""
    out.print(f"{mark} {report.passed} passed{failed}   {report.seconds:.1f} s")
    for name in report.failed:
        out.print(f"  [red]failed[/] {name}", soft_wrap=True)
    for reason, count in sorted(report.skipped.items()):
        out.print(f"  not run here: {count} ({reason})", markup=False)
