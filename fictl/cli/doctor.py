"""fictl doctor: the verdict on this machine, or a report of it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import Json, Verbose
from fictl.errors import FictlError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.doctor import DoctorFinding

_SIGNS = {"error": ("✗", "bold red"), "warning": ("!", "yellow"), "ok": ("✓", "green")}


EXAMPLES = {
    "fictl doctor": "each problem comes with its fix",
    "fictl doctor --for build": "a machine that builds: no GPU counts",
    "fictl doctor --gpus": "peers, IPC and the speed of every link",
    "fictl doctor --report": "Markdown for a bug tracker, without names and paths of yours",
}


def command(
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            help="Print a report for a bug tracker, without names and secrets.",
            show_default=False,
        ),
    ] = False,
    purpose: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="build|test|bench",
            help="Count only what this needs: no GPU to build, a GPU to bench.",
            show_default=False,
        ),
    ] = "",
    gpus: Annotated[
        bool,
        typer.Option(
            "--gpus",
            help="Test every pair of GPUs, too: peer access, CUDA IPC, and the speed of the link.",
            show_default=False,
        ),
    ] = False,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Examine this machine: compilers, driver, GPUs, tools, cache; build and run a tiny kernel.

    Without --for, a warning is about something that another kind of work needs.
    """
    from fictl.doctor import examine, exit_code, tally

    with _waiting():
        findings = examine(purpose=purpose, gpus=gpus)
    code, summary = exit_code(findings), tally(findings)
    data: dict[str, object] = {"findings": [finding.to_dict() for finding in findings]}
    problem = FictlError(summary, "each finding names its fix") if code else None
    if report:
        from fictl.doctor.report import make_report

        data["report"] = text = make_report(findings)
        console.show(console.Result(data, text, code, problem))
    else:
        console.show(
            console.Result(data, lambda out: _view(out, findings, summary, verbose), code, problem)
        )


def _waiting() -> AbstractContextManager[object]:
    """It takes some seconds: people see that something goes on."""
    out = console.console(stderr=True)
    return out.status("examining this machine") if out.is_interactive else nullcontext()


def _view(out: Console, findings: list[DoctorFinding], summary: str, verbose: bool) -> None:
    """Problems first, each with its fix on a line of its own."""
    width = max(len(finding.name) for finding in findings)
    for finding in sorted(findings, key=lambda finding: list(_SIGNS).index(finding.level)):
        sign, style = _SIGNS[finding.level]
        first, *evidence = finding.text.splitlines() or [""]
        out.print(sign, style=style, end=" ")
        text = console.wrapped(first, width + 4, out)
        out.print(finding.name.ljust(width), text, sep="  ", markup=False, soft_wrap=True)
        if verbose or finding.level != "ok":
            for line in evidence:
                out.print(f"    {line}", markup=False, soft_wrap=True, style="dim")
        if finding.fix:
            fix = console.wrapped(finding.fix, width + 6, out)
            out.print(f"  {'':{width}}  → {fix}", markup=False, soft_wrap=True)
    out.print(summary)
