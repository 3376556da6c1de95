"""A rank that keeps the others waiting is named, with the collective that it did not call."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.project import find
from fictl.testing.runner import group
from fictl.testing.runner.run_tests import run_tests

SUITE = Path(__file__).with_name("hanging_ranks.py")


def test_who_keeps_the_others_waiting_is_said(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = find("twice")
    folders[0].test.write_text(SUITE.read_text(encoding="utf-8"))
    monkeypatch.setattr(group, "CONTRACT", folders[0].test)
    variables = {"FICTL_DEVICE": "emu", "FICTL_RANK_TIMEOUT": "1"}
    output: list[str] = []
    words = ["--fictl-gpus=2"]
    report = run_tests(folders, output.append, words, variables, timeout=60.0, ranks=2)
    outcomes = {test.test.rpartition("::")[2]: test.reason or test.outcome for test in report.tests}
    assert outcomes == {
        "test_one_never_calls": "rank 1 did not call all_reduce #2: its last call was "
        "all_reduce #1, it waits at the end of the test",
        "test_one_dies": "Failed: rank 1 did not call broadcast #2: its process has ended "
        "(rank 1 ended with SIGKILL)",
        "test_the_next_one_runs": "passed",
    }, "\n".join(output)
