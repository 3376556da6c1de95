"""Runs the tests of ops under the emulated device's check mode, which checks every access."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from fictl import settings
from fictl.errors import FictlError
from fictl.project import OpFolder
from fictl.report.checked import CheckedOp, ToolCheck
from fictl.report.suppression import FILE, Suppression, read_suppressions
from fictl.report.test_report import TestReport
from fictl.sanitize.origin import add_origin
from fictl.sanitize.sources import ReportSources
from fictl.testing.runner.run_tests import run_tests

TOOL = "emulated"


def check_ops(
    folders: Sequence[OpFolder],
    say: Callable[[str], object],
    pytest_arguments: Sequence[str],
    suppressions: Path | None,
    timeout: float,
    strict: bool = False,
) -> Iterator[CheckedOp]:
    """Check each op in a process of its own, so that one that dies or hangs affects no other."""
    for folder in folders:
        path = suppressions or folder.project.root / FILE
        accepted = read_suppressions(path)
        yield _check(folder, say, pytest_arguments, accepted, timeout, strict)


def _check(
    folder: OpFolder,
    say: Callable[[str], object],
    pytest_arguments: Sequence[str],
    accepted: tuple[Suppression, ...],
    timeout: float,
    strict: bool,
) -> CheckedOp:
    variables = {settings.DEVICE.name: "emu", settings.EMU_CHECK.name: "1"}
    if strict:
        variables[settings.EMU_STRICT.name] = "1"
    problem, tests = None, TestReport(device="emu")
    with tempfile.TemporaryDirectory(prefix="fictl-sanitize-") as place:
        defects = Path(place) / "defects.jsonl"
        arguments = [f"--fictl-defects={defects}", *pytest_arguments]
        try:
            tests = run_tests([folder], say, arguments, variables, timeout)
        except FictlError as error:
            problem = error
        lines = defects.read_text(encoding="utf-8").splitlines() if os.path.isfile(defects) else []
    sources, rows = ReportSources(folder.project), [json.loads(line) for line in lines]
    for row in rows:
        row["folder"] = str(folder)
        sources.locate(row)
        add_origin(row, folder, "emu")
    check = ToolCheck(TOOL, tests, tuple(rows), problem=problem)
    return CheckedOp.judged(folder, tests, [check], accepted)
