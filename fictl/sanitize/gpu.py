"""Runs the tests of ops on a GPU under compute-sanitizer, once for each of its tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fictl import settings
from fictl.errors import FictlError, UsageError
from fictl.project import OpFolder
from fictl.report.checked import CheckedOp, ToolCheck
from fictl.report.outcome import FAILED, OUT_OF_MEMORY, TestOutcome
from fictl.report.suppression import FILE, read_suppressions
from fictl.report.test_report import TestReport
from fictl.sanitize import compute_sanitizer
from fictl.sanitize.report_parser import counted, program_output, records, unprinted
from fictl.sanitize.rows import rows_of
from fictl.testing.generated.seed import session_seed
from fictl.testing.runner.run_tests import run_tests

# A line of pytest's progress: one letter for a test, and a percentage.
_PROGRESS = re.compile(r"\s*\S?(?:\s+\[\s*\d+%\])?\s*")
_PLUGINS = ("-p", "fictl.testing.hooks.announce", "-p", "fictl.testing.hooks.no_capture")


@dataclass(frozen=True)
class SanitizeRequest:
    """Options of a check: a tool prints `limit` reports, a test has `timeout` seconds."""

    tools: Sequence[str] = compute_sanitizer.TOOLS
    pytest_arguments: Sequence[str] = ()
    suppressions: Path | None = None
    timeout: float = 900.0
    limit: int = 1000


def check_ops(
    folders: Sequence[OpFolder], say: Callable[[str], object], request: SanitizeRequest
) -> Iterator[CheckedOp]:
    """Check each op under each tool, in a process of its own."""
    for folder in folders:
        accepted = read_suppressions(request.suppressions or folder.project.root / FILE)
        # The same tests under every tool, with the same names.
        words = [*_PLUGINS, f"--fictl-seed={session_seed()}", *request.pytest_arguments]
        checks = [_check(folder, tool, say, words, request) for tool in request.tools]
        yield CheckedOp.judged(folder, _together(checks), checks, accepted)


def _check(
    folder: OpFolder,
    tool: str,
    say: Callable[[str], object],
    words: Sequence[str],
    request: SanitizeRequest,
) -> ToolCheck:
    lines: list[str] = []

    def hear(line: str) -> None:
        lines.append(line)
        text = program_output(line)
        if not _PROGRESS.fullmatch(text):
            say(text)

    problem: FictlError | None = None
    tests = TestReport()
    try:
        tests = run_tests(
            [folder],
            hear,
            words,
            _environment(),
            request.timeout,
            launcher=compute_sanitizer.command(tool, request.limit),
        )
    except FictlError as error:
        problem = error
    text = "\n".join(lines)
    reports = records(text)
    ours = [record for record in reports if record.is_of_an_op]
    # If no test was selected, the tool reports a program without CUDA.
    if not reports and not isinstance(problem, UsageError):
        problem = _unread(tool, text) or (problem and (compute_sanitizer.refusal(text) or problem))
    rows = tuple(rows_of(ours, tool, folder))
    return ToolCheck(tool, tests, rows, unprinted(text), len(reports) - len(ours), problem)


def _environment() -> dict[str, str]:
    own = {settings.DEVICE.name: "cuda", settings.BARE_TENSORS.name: "1"}
    return {**compute_sanitizer.environment(), **own}


def _unread(tool: str, text: str) -> FictlError | None:
    """Error where the tool counted reports and none could be parsed: the op must not look clean."""
    count = counted(text)
    if not count:
        return None
    reported = [line for line in text.splitlines() if "=========" in line]
    return FictlError(
        f"{tool} counted {count} reports, and none of them could be read",
        "compute-sanitizer said: " + " / ".join(line.strip("= ") for line in reported[:6]),
    )


def _together(checks: Sequence[ToolCheck]) -> TestReport:
    """Merge the outcomes: each test once, with its worst outcome under the tools."""
    merged: dict[str, TestOutcome] = {}
    for check in checks:
        for test in check.tests.tests:
            bad = test.outcome in (FAILED, OUT_OF_MEMORY)
            reason = f"under {check.tool}: {test.reason}" if bad else test.reason
            merged[test.test] = replace(test, reason=reason).worse(merged.get(test.test))
    return TestReport(tuple(merged.values()), sum(check.tests.seconds for check in checks))
