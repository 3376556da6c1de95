"""Running the tests of ops: the contract and their own files, in processes that a test may end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from fictl.errors import UsageError
from fictl.project import OpFolder, require_trusted
from fictl.report.test_report import TestReport, merge
from fictl.testing.generated.seed import session_seed
from fictl.testing.runner.group import Group
from fictl.testing.runner.spread import Slot, spread
from fictl.testing.runner.watch import Told

__all__ = ["TestReport", "run_tests"]


def run_tests(
    folders: Sequence[OpFolder],
    say: Callable[[str], object],
    pytest_arguments: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    timeout: float = 300.0,
    *,
    slots: Sequence[Slot] = (),
    ranks: int = 1,
    launcher: Sequence[str] = (),
    told: Told = lambda journal: None,
) -> TestReport:
    """`say` receives pytest's own output, line by line; `variables` are for its environment.

    `launcher` is a tool that runs it, with its options: what it says comes amid pytest's lines.

    What a test kills, with a wild pointer or a loop without an end, is its process: that is its
    outcome, and the others go on in a new one. `timeout` is for one test.
    """
    for project in {folder.project for folder in folders}:
        require_trusted(project)  # Before pytest, which runs its conftest.py before anything else.
    start = time.monotonic()
    # Why here: a process that goes on, and one beside it, must have the same tests.
    arguments = [f"--fictl-seed={session_seed()}", *pytest_arguments]
    whole = Group(folders, arguments, variables or {}, timeout, ranks, launcher)
    reports = spread(whole, slots, say, told) if slots else [whole.run(say, told)]
    report = merge(reports, time.monotonic() - start)
    if not report.tests:
        raise UsageError("no test was chosen", "another -k, --case or --gpus chooses others")
    return report
