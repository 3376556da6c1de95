"""Ops on a GPU under compute-sanitizer: their tests run, once for each of its tools."""

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
from fictl.sanitize.records import counted, own_words, records, unprinted
from fictl.sanitize.rows import rows_of
from fictl.testing.generated.seed import session_seed
from fictl.testing.runner.run import run_tests

# A test's letter alone on a line, and how far that is.
_PROGRESS = re.compile(r"\s*\S?(?:\s+\[\s*\d+%\])?\s*")
_PLUGINS = ("-p", "fictl.testing.hooks.announce", "-p", "fictl.testing.hooks.no_capture")


@dataclass(frozen=True)
class SanitizeRequest:
    """`limit` is how many reports a tool prints, `timeout` how many seconds a test may take."""

    tools: Sequence[str] = compute_sanitizer.TOOLS
    pytest_arguments: Sequence[str] = ()
    suppressions: Path | None = None
    timeout: float = 900.0
    limit: int = 1000


def check_ops(
    folders: Sequence[OpFolder], say: Callable[[str], object], request: SanitizeRequest
) -> Iterator[CheckedOp]:
    """Each op and tool in a process of its own."""
    for folder in folders:
        accepted = read_suppressions(request.suppressions or folder.project.root / FILE)
        # Under every tool the same tests, by the same names.
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
        said = own_words(line)
        if not _PROGRESS.fullmatch(said):
            say(said)

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
    found = records(text)
    ours = [record for record in found if record.is_of_an_op]
    # Where no test was chosen the tool complains of a program without CUDA.
    if not found and not isinstance(problem, UsageError):
        problem = _unread(tool, text) or (problem and (compute_sanitizer.refusal(text) or problem))
    rows = tuple(rows_of(ours, tool, folder))
    return ToolCheck(tool, tests, rows, unprinted(text), len(found) - len(ours), problem)


def _environment() -> dict[str, str]:
    own = {settings.DEVICE.name: "cuda", settings.BARE_TENSORS.name: "1"}
    return {**compute_sanitizer.environment(), **own}


def _unread(tool: str, text: str) -> FictlError | None:
    """A verdict of nothing must not come from a report in a form that is not known."""
    count = counted(text)
    if not count:
        return None
    said = [line for line in text.splitlines() if "=========" in line]
    return FictlError(
        f"{tool} counted {count} reports, and none of them could be read",
        "compute-sanitizer said: " + " / ".join(line.strip("= ") for line in said[:6]),
    )


def _together(checks: Sequence[ToolCheck]) -> TestReport:
    """Every test once, as badly as it went under the tools."""
    found: dict[str, TestOutcome] = {}
    for check in checks:
        for each in check.tests.tests:
            bad = each.outcome in (FAILED, OUT_OF_MEMORY)
            said = f"under {check.tool}: {each.reason}" if bad else each.reason
            found[each.test] = replace(each, reason=said).worse(found.get(each.test))
    return TestReport(tuple(found.values()), sum(check.tests.seconds for check in checks))
