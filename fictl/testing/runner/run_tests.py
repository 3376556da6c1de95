"""Run of ops' generated tests and own test files, in processes that a test may crash."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fictl.errors import UsageError
from fictl.project import OpFolder, require_trusted
from fictl.report.test_report import TestReport, merge
from fictl.testing.generated.seed import session_seed
from fictl.testing.runner.group import TestGroup
from fictl.testing.runner.spread import TestSlot, spread
from fictl.testing.runner.watch import Told

__all__ = ["TestReport", "run_tests"]


def run_tests(
    folders: Sequence[OpFolder],
    say: Callable[[str], object],
    pytest_arguments: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    timeout: float = 300.0,
    *,
    slots: Sequence[TestSlot] = (),
    ranks: int = 1,
    launcher: Sequence[str] = (),
    seed: int | None = None,
    cache: Path | None = None,
    is_attached: bool = False,
    told: Told = lambda journal: None,
) -> TestReport:
    """Run the tests and return their outcomes.

    say: receives pytest's output, line by line.
    variables: environment variables for pytest.
    timeout: seconds for one test.
    launcher: command of a tool that runs pytest; its output comes between pytest's lines.
    seed: of all random inputs; another one in every run if it is None.
    cache, is_attached: see TestGroup.

    A test that ends its process, by a wild pointer or an endless loop, fails; the others continue
    in a new process.
    """
    for project in {folder.project for folder in folders}:
        require_trusted(project)  # Before pytest runs its conftest.py.
    start = time.monotonic()
    # Why here: all processes of a run must have the same tests.
    seed = session_seed() if seed is None else seed
    arguments = [f"--fictl-seed={seed}", *pytest_arguments]
    whole = TestGroup(
        folders, arguments, variables or {}, timeout, ranks, launcher, cache, is_attached
    )
    reports = spread(whole, slots, say, told) if slots else [whole.run(say, told)]
    report = merge(reports, time.monotonic() - start)
    if not report.tests:
        raise UsageError("no test was chosen", "another -k, --case or --gpus chooses others")
    return report
