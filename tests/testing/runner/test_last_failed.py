"""fictl test twice: the second run, with --lf, has the failures of the first, with their inputs."""

from __future__ import annotations

from pathlib import Path

from fictl.project import find
from fictl.report.test_report import TestReport
from fictl.testing.runner import group
from fictl.testing.runner.request import TestRequest

OWN = """
import os
import pytest, torch
@pytest.mark.parametrize("n", [1, 2])
def test_drawn(n): assert torch.rand(()).item() == n
def test_fatal(): os._exit(3)
def test_good(): pass
"""


def test_what_failed_last_runs_again_with_the_same_inputs(tiny: Path, monkeypatch) -> None:
    folders, text = find("twice"), []
    monkeypatch.setattr(group, "CONTRACT", folders[0].test)
    folders[0].test.write_text(OWN)
    beside = folders[0].test.with_name("test_twice_more.py")
    beside.write_text("def test_beside(): assert 0\n")

    def run(*words: str) -> TestReport:
        return TestRequest(folders, "cuda", passed_on=words).run(text.append, lambda journal: None)

    first, again = run(), run("--lf")
    assert {one.test.rpartition("::")[2] for one in first.failed} == {
        "test_drawn[1]",
        "test_drawn[2]",
        "test_fatal",
        "test_beside",
    }
    assert [(one.test, one.reason, one.command) for one in again.tests] == [
        (one.test, one.reason, one.command) for one in first.failed
    ]
    # The traceback of one of the two that drew, and of no library.
    assert sum("in test_drawn" in line for line in text) == 2
