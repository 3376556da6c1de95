"""Running the tests of ops: pytest in a process of its own, over the contract and their own files."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, UsageError
from fictl.paths import PACKAGE
from fictl.process import stream
from fictl.project import OpFolder

CONTRACT = Path(__file__).with_name("contract.py")


@dataclass(frozen=True)
class TestReport:
    """How many passed, which failed, and why the rest did not run here."""

    __test__ = False  # The name is right, and pytest must not collect it.

    passed: int
    failed: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """1 if a test failed, 3 if this machine could run none."""
        if self.failed:
            return 1
        return 0 if self.passed else 3


def run_tests(
    folders: Sequence[OpFolder], say: Callable[[str], object], pytest_arguments: Sequence[str] = ()
) -> TestReport:
    """`say` receives pytest's own output, line by line."""
    with tempfile.TemporaryDirectory(prefix="fictl-test-") as folder:
        path = Path(folder) / "report.json"
        start = time.monotonic()
        arguments = _arguments(folders, path, pytest_arguments)
        code = _pytest(arguments, folders[0].project.root, say)
        seconds = time.monotonic() - start
        if not path.is_file():
            raise FictlError(
                f"pytest ended with exit code {code} before it ran a test",
                "run it again without --json to see what it says",
            )
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


def _pytest(arguments: list[str], root: Path, say: Callable[[str], object]) -> int:
    # Why PYTHONSAFEPATH: `python -m pytest` would put the current folder, and with it a folder
    # named kernels, before installed packages.
    path = os.pathsep.join([str(PACKAGE.parent), *filter(None, sys.path)])
    env = {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
    return stream([sys.executable, "-m", "pytest", *arguments], say, cwd=root, env=env).code


def _report(data: dict[str, Any], seconds: float) -> TestReport:
    return TestReport(data["passed"], tuple(data["failed"]), data["skipped"], seconds)
