"""Checked: what came of looking at one op."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fictl.errors import FictlError, SetupError
from fictl.project import OpFolder
from fictl.report.finding import Finding, findings, site
from fictl.report.outcome import Outcome
from fictl.report.suppression import Suppression
from fictl.report.test_report import TestReport


@dataclass(frozen=True)
class Check:
    """One tool over the tests of an op.

    `unprinted` reports it has counted only; `elsewhere` are those of kernels that are not the op's.
    """

    tool: str
    tests: TestReport
    rows: tuple[dict[str, Any], ...] = ()
    unprinted: int = 0
    elsewhere: int = 0
    problem: FictlError | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "tool": self.tool,
            "passed": self.tests.passed,
            "failed": [each.test for each in self.tests.failed],
            "seconds": round(self.tests.seconds, 2),
            "unprinted": self.unprinted,
            "elsewhere": self.elsewhere,
            "problem": self.problem.message if self.problem else None,
        }


@dataclass(frozen=True)
class Checked:
    """One op: how its tests went, and what was found; `problem` is why there is no such answer."""

    op: str
    tests: TestReport
    findings: tuple[Finding, ...] = ()
    problem: FictlError | None = None
    unused: tuple[Suppression, ...] = ()
    checks: tuple[Check, ...] = ()

    @classmethod
    def judged(
        cls,
        folder: OpFolder,
        tests: TestReport,
        checks: Sequence[Check],
        accepted: Sequence[Suppression],
    ) -> Checked:
        """Of what was seen, what the project accepts; its acceptances that nothing needs."""
        rows = [row for check in checks for row in check.rows]
        found = findings(rows, accepted)
        problems = (check.problem for check in checks if check.problem)
        ours = [each for each in accepted if _is_about(each, folder)]
        unused = tuple(each for each in ours if not any(each.covers(row) for row in rows))
        problem = next(problems, None) or _unseen(checks, found)
        return cls(str(folder), tests, found, problem, unused, tuple(checks))

    @property
    def defects(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if not finding.suppressed)

    def failed_with(self, finding: Finding) -> int:
        """How many tests failed under the tool that saw it in them: it may have ended the kernel."""
        seen_in = {
            row["test"]
            for check in self.checks
            for row in check.rows
            if row["test"] in _failed(check) and site(row) == site(finding.facts)
        }
        return len(seen_in)

    @property
    def unexplained(self) -> tuple[Outcome, ...]:
        """Tests that failed, and no defect was seen in them by the same tool."""
        sites = {site(finding.facts) for finding in self.defects}
        names = set[str]()
        for check in self.checks:
            names |= _failed(check) - {row["test"] for row in check.rows if site(row) in sites}
        return tuple(each for each in self.tests.failed if each.test in names or not self.checks)

    @property
    def exit_code(self) -> int:
        """A defect or a failed test is 1; where nothing ran, the environment could not do it."""
        if self.defects or self.tests.failed:
            return 1
        if self.problem:
            return 3 if isinstance(self.problem, SetupError) else 1
        return self.tests.exit_code

    def to_dict(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "passed": self.tests.passed,
            "failed": [each.test for each in self.tests.failed],
            "skipped": self.tests.skipped,
            "seconds": round(self.tests.seconds, 2),
            "findings": [finding.to_dict() for finding in self.findings],
            "checks": [check.to_dict() for check in self.checks],
            "problem": self.problem.message if self.problem else None,
        }


def _failed(check: Check) -> set[str]:
    return {each.test for each in check.tests.failed}


def _unseen(checks: Sequence[Check], found: Sequence[Finding]) -> FictlError | None:
    """What a tool did not print may be a defect, where all that it has printed is none."""
    silent = [check for check in checks if check.unprinted]
    if not silent or not all(finding.suppressed for finding in found):
        return None
    check = silent[0]
    return FictlError(
        f"{check.tool} left out {check.unprinted} reports, and those that it has printed are none of "
        f"the op's or accepted ({check.elsewhere} of other kernels)",
        "with a higher --print-limit, or fewer tests by -k, it prints them all",
    )


def _is_about(suppression: Suppression, folder: OpFolder) -> bool:
    return Suppression(suppression.op, "").covers(
        {"op": folder.module, "folder": str(folder), "kind": ""}
    )
