"""Running the tests of ops: pytest in a process of its own, over the contract and their own files."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, UsageError
from fictl.paths import PACKAGE
from fictl.process import stream
from fictl.project import OpFolder
from fictl.testing.plugin import running_file

CONTRACT = Path(__file__).with_name("contract.py")


@dataclass(frozen=True)
class TestReport:
    """How many passed, which failed, why the rest did not run here, and what was run on."""

    __test__ = False  # The name is right, and pytest must not collect it.

    passed: int
    failed: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    device: str = "cuda"
    schedules: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """1 if a test failed, 3 if this machine could run none."""
        if self.failed:
            return 1
        return 0 if self.passed else 3


def run_tests(
    folders: Sequence[OpFolder],
    say: Callable[[str], object],
    pytest_arguments: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> TestReport:
    """`say` receives pytest's own output, line by line; `variables` are for its environment.

    What a test kills, a wild pointer in host code or a loop without an end, is that process.
    """
    with tempfile.TemporaryDirectory(prefix="fictl-test-") as folder:
        path = Path(folder) / "report.json"
        start = time.monotonic()
        arguments = _arguments(folders, path, pytest_arguments)
        code = _pytest(arguments, folders[0].project.root, say, variables or {}, timeout)
        seconds = time.monotonic() - start
        if not path.is_file():
            raise _died(code, path)
        report = _report(json.loads(path.read_text(encoding="utf-8")), seconds)
    if not (report.passed or report.failed or report.skipped):
        raise UsageError("no test was chosen", "give another -k, or none")
    return report


def _arguments(folders: Sequence[OpFolder], report: Path, more: Sequence[str]) -> list[str]:
    # Why --rootdir, and the contract last: the project's own configuration and file names count,
    # not those of the folder where fictl lies.
    project = folders[0].project
    root = os.path.commonpath([project.root, project.tests])
    return [
        "-p", "fictl.testing.plugin", "--import-mode=importlib", "-p", "no:cacheprovider", "-q",
        f"--rootdir={root}", f"--fictl-report={report}",
        *(f"--fictl-op={folder}" for folder in folders),
        *(str(folder.test) for folder in folders if folder.test.is_file()),
        str(CONTRACT),
        *more,
    ]  # fmt: skip


def _pytest(
    arguments: list[str], root: Path, say: Callable[[str], object],
    variables: Mapping[str, str], timeout: float | None,
) -> int:  # fmt: skip
    # Why PYTHONSAFEPATH: `python -m pytest` would put the current folder, and with it a folder
    # named kernels, before installed packages.
    path = os.pathsep.join([str(PACKAGE.parent), *filter(None, sys.path)])
    env = {"PYTHONPATH": path, "PYTHONSAFEPATH": "1", **variables}
    argv = [sys.executable, "-m", "pytest", *arguments]
    return stream(argv, say, cwd=root, env=env, timeout=timeout).code


def _died(code: int, report: Path) -> FictlError:
    """Without a report: pytest did not start, or a test has ended the process."""
    running = running_file(report)
    if not running.is_file():
        return FictlError(
            f"pytest ended with exit code {code} before it ran a test",
            "run it again without --json to see what it says",
        )
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    test = running.read_text(encoding="utf-8")
    return FictlError(f"{test} ended the tests with {how}", f"-k runs it alone: {test}")


def _report(data: dict[str, Any], seconds: float) -> TestReport:
    return TestReport(
        data["passed"], tuple(data["failed"]), data["skipped"], seconds,
        data["device"], tuple(data["schedules"]),
    )  # fmt: skip
