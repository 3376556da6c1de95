"""Result of checking one op with one or more tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fictl.errors import FictlError, SetupError
from fictl.project import OpFolder
from fictl.report.finding import DefectFinding, findings, site
from fictl.report.outcome import TestOutcome
from fictl.report.suppression import Suppression
from fictl.report.test_report import TestReport


@dataclass(frozen=True)
class ToolCheck:
    """The tests of an op, run under one tool.

    unprinted: number of reports that the tool counted and did not print.
    elsewhere: number of reports about kernels that are not the op's.
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
            "failed": [test.test for test in self.tests.failed],
            "seconds": round(self.tests.seconds, 2),
            "unprinted": self.unprinted,
            "elsewhere": self.elsewhere,
            "problem": self.problem.message if self.problem else None,
        }


@dataclass(frozen=True)
class CheckedOp:
    """One op: outcomes of its tests, and its defects; `problem` is why it could not be checked."""

    op: str
    tests: TestReport
    findings: tuple[DefectFinding, ...] = ()
    problem: FictlError | None = None
    unused: tuple[Suppression, ...] = ()
    checks: tuple[ToolCheck, ...] = ()

    @classmethod
    def judged(
        cls,
        folder: OpFolder,
        tests: TestReport,
        checks: Sequence[ToolCheck],
        accepted: Sequence[Suppression],
    ) -> CheckedOp:
        """Judge the reports of all tools by the suppressions that the project accepts."""
        rows = [row for check in checks for row in check.rows]
        seen = findings(rows, accepted)
        problems = (check.problem for check in checks if check.problem)
        ours = [suppression for suppression in accepted if _is_about(suppression, folder)]
        unused = tuple(one for one in ours if not any(one.covers(row) for row in rows))
        problem = next(problems, None) or _unseen(checks, seen)
        return cls(str(folder), tests, seen, problem, unused, tuple(checks))

    @property
    def defects(self) -> tuple[DefectFinding, ...]:
        return tuple(finding for finding in self.findings if not finding.suppressed)

    def failed_with(self, finding: DefectFinding) -> int:
        """Number of tests that failed under the tool that reported the defect in them."""
        seen_in = {
            row["test"]
            for check in self.checks
            for row in check.rows
            if row["test"] in _failed(check) and site(row) == site(finding.facts)
        }
        return len(seen_in)

    @property
    def unexplained(self) -> tuple[TestOutcome, ...]:
        """Failed tests in which the same tool saw no defect."""
        sites = {site(finding.facts) for finding in self.defects}
        names = set[str]()
        for check in self.checks:
            names |= _failed(check) - {row["test"] for row in check.rows if site(row) in sites}
        return tuple(one for one in self.tests.failed if one.test in names or not self.checks)

    @property
    def exit_code(self) -> int:
        """1 for a defect or a failed test; 3 if nothing could run in this environment."""
        if self.defects or self.tests.failed:
            return 1
        if self.problem:
            return 3 if isinstance(self.problem, SetupError) else 1
        return self.tests.exit_code

    def to_dict(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "passed": self.tests.passed,
            "failed": [test.test for test in self.tests.failed],
            "skipped": self.tests.skipped,
            "seconds": round(self.tests.seconds, 2),
            "findings": [finding.to_dict() for finding in self.findings],
            "checks": [check.to_dict() for check in self.checks],
            "problem": self.problem.message if self.problem else None,
        }


def _failed(check: ToolCheck) -> set[str]:
    return {outcome.test for outcome in check.tests.failed}


def _unseen(checks: Sequence[ToolCheck], seen: Sequence[DefectFinding]) -> FictlError | None:
    """An error where a tool left out reports, and those it printed show no defect of the op."""
    silent = [check for check in checks if check.unprinted]
    if not silent or not all(finding.suppressed for finding in seen):
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
