"""fictl dataset validate: what is wrong with a dataset, found without running anything."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import Json
from fictl.errors import FictlError
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.trace.dataset.check.finding import Finding

# Of one kind in people's view; --json has all.
_MOST_SHOWN = {"error": 10, "warning": 3, "note": 1}
_STYLES = {"error": "red", "warning": "yellow", "note": "dim"}


EXAMPLES = {
    "fictl dataset validate dataset": "files, lines and references",
    "fictl dataset validate dataset --checks all --strict": "everything; warnings fail, too",
}


def command(
    root: Annotated[
        Path | None,
        typer.Argument(
            metavar="ROOT",
            help="Folder of the dataset; default: FICTL_DATASET_PATH.",
            show_default=False,
        ),
    ] = None,
    checks: Annotated[
        str,
        typer.Option(
            "--checks",
            metavar="CHECKS",
            help="Checks to run: layout, definition, workload, solution, trace, baseline, benchmark; or all.",
        ),
    ] = "layout,definition,workload,solution,trace",
    op_type: Annotated[
        list[str] | None,
        typer.Option("--op-type", metavar="TYPE", help="Check only this op type; repeatable."),
    ] = None,
    definition: Annotated[
        list[str] | None,
        typer.Option(
            "--definition", metavar="NAME", help="Check only this definition; repeatable."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail on warnings, too.", show_default=False)
    ] = False,
    json: Json = False,
) -> None:
    """Check every file, line and reference of a dataset. Exit code 1 on errors."""
    from fictl.trace import TraceSet
    from fictl.trace.dataset.check import validate
    from fictl.trace.dataset.check.scope import CHECKS, Scope

    files = TraceSet.from_path(root).files
    chosen = CHECKS if checks == "all" else [name.strip() for name in checks.split(",")]
    scope = Scope(files, chosen, op_type or (), definition or ())
    findings = [*validate(scope)]
    levels = Counter(finding.level for finding in findings)
    failed = levels["error"] + (levels["warning"] if strict else 0)
    data = {
        "root": str(files.root),
        "checks": [*chosen],
        "checked": dict(scope.counts),
        "levels": dict(levels),
        "findings": [finding.to_dict(files.root) for finding in findings],
    }
    error = _error(files.root, failed) if failed else None
    view = lambda out: _view(out, findings, scope.counts, error)  # noqa: E731
    console.show(console.Result(data, view, int(bool(failed)), error))


def _error(root: Path, failed: int) -> FictlError:
    things = "thing is" if failed == 1 else "things are"
    return FictlError(f"{failed} {things} wrong with {root}", "the list above says where")


def _view(
    out: Console, findings: list[Finding], counts: Counter[str], error: FictlError | None
) -> None:
    for kind in dict.fromkeys(finding.kind for finding in findings):
        _show([finding for finding in findings if finding.kind == kind], out)
    if error:
        console.problem(error)
        return
    kinds = ("definition", "solution", "workload", "trace")
    looked_at = ", ".join(counted(counts[f"{kind}s"], kind) for kind in kinds)
    others = Counter(finding.level for finding in findings)
    text = " and ".join(counted(count, level) for level, count in others.items())
    verdict = f"no errors, {text}" if text else "nothing is wrong"
    out.print(f"[green]✓[/] {looked_at}: {verdict}", soft_wrap=True)


def _show(same: list[Finding], out: Console) -> None:
    """Findings of one kind."""
    level, kind = same[0].level, same[0].kind
    most = _MOST_SHOWN[level]
    for finding in same[:most]:
        out.print(f"[{_STYLES[level]}]{level}[/] {kind}", end="  ", soft_wrap=True)
        out.print(str(finding), markup=False, soft_wrap=True)
    if len(same) > most:
        out.print(f"… {len(same) - most} more of {kind}: --json has all", style="dim")
