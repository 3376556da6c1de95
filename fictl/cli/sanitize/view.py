"""What fictl sanitize shows of findings."""

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
        said = self.where if self.checked else no_ops()
        out.print(said, markup=False, soft_wrap=True)
        for each in self.checked:
            _op(out, each)


def _op(out: Console, each: CheckedOp) -> None:
    mark = {0: "[green]✓[/]", 1: "[red]✗[/]", 3: "[yellow]![/]"}[each.exit_code]
    parts = " · ".join(_counts(each))
    out.print(f"{mark} [bold]{each.op}[/]  {parts}   {each.tests.seconds:.1f} s")
    if len(each.checks) > 1:
        times = (f"{check.tool} {check.tests.seconds:.1f} s" for check in each.checks)
        out.print(f"  {' · '.join(times)}")
    if each.problem:
        console.problem(each.problem)
    for finding in each.defects:
        _finding(out, finding, each.failed_with(finding))
    for check in each.checks:
        if check.unprinted and each.defects:
            said = f"{check.unprinted} more reports of {check.tool} were not printed"
            out.print(f"  {said}: mend these, then run it again")
    for failed in each.unexplained:
        said = escape(f"{failed.test}  {failed.reason}".rstrip())
        out.print(f"  [red]failed[/] {said}", soft_wrap=True)
    for reason, skipped in sorted(each.tests.skipped.items()):
        out.print(f"  not run here: {skipped} ({reason})", markup=False, soft_wrap=True)
    for accepted in each.unused:
        said = f"{accepted.op} {accepted.kind} {accepted.site}"
        out.print(f"  nothing to suppress: {said} ({accepted.why})", markup=False)


def _counts(each: CheckedOp) -> Iterator[str]:
    suppressed = len(each.findings) - len(each.defects)
    yield counted(each.tests.run, "test")
    yield counted(len(each.defects), "defect")
    if suppressed:
        yield f"{suppressed} suppressed"
    if each.tests.failed:
        yield f"{len(each.tests.failed)} failed"


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
    if failed:
        out.print(f"  {counted(failed, 'test')} failed where this was found")
