"""Ops under the emulated device's check mode: their tests run, and every access is looked at."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.errors import FictlError
from fictl.project import OpFolder
from fictl.sanitize.suppression import FILE, Suppression, read_suppressions
from fictl.testing.runner.report import TestReport
from fictl.testing.runner.run import run_tests


@dataclass(frozen=True)
class Finding:
    """One defect: what check mode said, in which test it was first seen, and in how many."""

    facts: dict[str, Any]
    tests: int = 1
    suppressed: str = ""

    @property
    def text(self) -> str:
        said: str = self.facts["text"]
        return said

    def to_dict(self) -> dict[str, Any]:
        facts = {name: value for name, value in self.facts.items() if name != "text"}
        return {**facts, "tests": self.tests, "suppressed": self.suppressed or None}


@dataclass(frozen=True)
class Checked:
    """One op: how its tests went, and what was found; `problem` is why there is no such answer."""

    op: str
    tests: TestReport
    findings: tuple[Finding, ...] = ()
    problem: FictlError | None = None
    unused: tuple[Suppression, ...] = ()

    @property
    def defects(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if not finding.suppressed)

    @property
    def exit_code(self) -> int:
        """A defect or a failed test is 1; where nothing ran, the environment could not do it."""
        if self.defects or self.problem:
            return 1
        return self.tests.exit_code

    def to_dict(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "passed": self.tests.passed,
            "failed": [each.test for each in self.tests.failed],
            "skipped": self.tests.skipped,
            "seconds": round(self.tests.seconds, 2),
            "findings": [finding.to_dict() for finding in self.findings],
            "problem": self.problem.message if self.problem else None,
        }


def check_ops(
    folders: Sequence[OpFolder], say: Callable[[str], object], pytest_arguments: Sequence[str],
    suppressions: Path | None, timeout: float,
) -> Iterator[Checked]:  # fmt: skip
    """Each op in a process of its own: one that dies or hangs leaves the others alone."""
    for folder in folders:
        path = suppressions or folder.project.root / FILE
        accepted = read_suppressions(path)
        yield _check(folder, say, pytest_arguments, accepted, timeout)


def _check(
    folder: OpFolder, say: Callable[[str], object], pytest_arguments: Sequence[str],
    accepted: tuple[Suppression, ...], timeout: float,
) -> Checked:  # fmt: skip
    variables = {settings.DEVICE.name: "emu", settings.EMU_CHECK.name: "1"}
    problem, tests = None, TestReport(device="emu")
    with tempfile.TemporaryDirectory(prefix="fictl-sanitize-") as place:
        defects = Path(place) / "defects.jsonl"
        arguments = [f"--fictl-defects={defects}", *pytest_arguments]
        try:
            tests = run_tests([folder], say, arguments, variables, timeout)
        except FictlError as error:
            problem = error
        lines = defects.read_text(encoding="utf-8").splitlines() if defects.is_file() else []
    rows = [{"folder": str(folder), **json.loads(line)} for line in lines]
    findings = tuple(_judge(finding, accepted) for finding in _distinct(rows))
    ours = [each for each in accepted if _is_about(each, folder)]
    unused = tuple(each for each in ours if not any(each.covers(row) for row in rows))
    return Checked(str(folder), tests, findings, problem, unused)


def _distinct(rows: Sequence[dict[str, Any]]) -> list[Finding]:
    """One finding for each kind and place, whatever the test and the thread."""
    found: dict[tuple[Any, ...], Finding] = {}
    for row in rows:
        other = row.get("other") or {}
        key = (row["kind"], row["file"], row["line"], other.get("file"), other.get("line"))
        seen = found.get(key)
        found[key] = replace(seen, tests=seen.tests + 1) if seen else Finding(row)
    return list(found.values())


def _judge(finding: Finding, accepted: Sequence[Suppression]) -> Finding:
    why = next((each.why for each in accepted if each.covers(finding.facts)), "")
    return replace(finding, suppressed=why)


def _is_about(suppression: Suppression, folder: OpFolder) -> bool:
    return Suppression(suppression.op, "").covers(
        {"op": folder.module, "folder": str(folder), "kind": ""}
    )
