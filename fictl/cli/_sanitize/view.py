"""The view of findings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from fictl.cli import console
from fictl.cli.no_ops import no_ops
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.report.checked import CheckedOp
    from fictl.report.finding import DefectFinding


@dataclass(frozen=True)
class View:
    """`where` says on what the kernels ran."""

    where: str
    checked: Sequence[CheckedOp]

    def __call__(self, out: Console) -> None:
        where = self.where if self.checked else no_ops()
        out.print(where, markup=False, soft_wrap=True)
        for checked_op in self.checked:
            _op(out, checked_op)


def _op(out: Console, checked: CheckedOp) -> None:
    mark = {0: "[green]✓[/]", 1: "[red]✗[/]", 3: "[yellow]![/]"}[checked.exit_code]
    parts = " · ".join(_counts(checked))
    out.print(f"{mark} [bold]{checked.op}[/]  {parts}   {checked.tests.seconds:.1f} s")
    if len(checked.checks) > 1:
        times = (f"{check.tool} {check.tests.seconds:.1f} s" for check in checked.checks)
        out.print(f"  {' · '.join(times)}")
    if checked.problem:
        console.problem(checked.problem)
    for finding in checked.defects:
        _finding(out, finding, checked.failed_with(finding))
    for check in checked.checks:
        if check.unprinted and checked.defects:
            text = f"{check.unprinted} more reports of {check.tool} were not printed"
            out.print(f"  {text}: mend these, then run it again")
    for failed in checked.unexplained:
        text = escape(f"{failed.test}  {failed.reason}".rstrip())
        out.print(f"  [red]failed[/] {text}", soft_wrap=True)
    for reason, skipped in sorted(checked.tests.skipped.items()):
        out.print(f"  not run here: {skipped} ({reason})", markup=False, soft_wrap=True)
    for accepted in checked.unused:
        text = f"{accepted.op} {accepted.kind} {accepted.site}"
        out.print(f"  nothing to suppress: {text} ({accepted.why})", markup=False)


def _counts(checked: CheckedOp) -> Iterator[str]:
    suppressed = len(checked.findings) - len(checked.defects)
    yield counted(checked.tests.run, "test")
    yield counted(len(checked.defects), "defect")
    if suppressed:
        yield f"{suppressed} suppressed"
    if checked.tests.failed:
        yield f"{len(checked.tests.failed)} failed"


def _finding(out: Console, finding: DefectFinding, failed: int) -> None:
    facts = finding.facts
    out.print()
    # As one would open them from here.
    text = finding.text.replace(f"{Path.cwd()}{os.sep}", "")
    out.print(f"[red]✗[/] {escape(text)}", soft_wrap=True)
    more = f" and {finding.tests - 1} more" if finding.tests > 1 else ""
    by = f"{facts['tool']}: " if "tool" in facts else ""
    times = f" · {facts['accesses']} accesses" if facts.get("accesses", 1) > 1 else ""
    out.print(f"  {by}first in {facts['test']}{more}{times}", markup=False, soft_wrap=True)
    if facts.get("repeat"):
        out.print(f"  repeat: {facts['repeat']}", markup=False, soft_wrap=True)
    if failed:
        out.print(f"  {counted(failed, 'test')} failed where this was found")
