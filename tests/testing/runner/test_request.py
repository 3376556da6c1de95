from __future__ import annotations

from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.project import find
from fictl.report.test_report import TestReport
from fictl.testing.runner import request
from fictl.testing.runner.request import TestRequest


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Arguments of run_tests, in place of a run."""
    calls: list[Any] = []

    def run_tests(*arguments: Any, **named: Any) -> TestReport:
        calls.append((*arguments, named))
        return TestReport()

    monkeypatch.setattr(request, "run_tests", run_tests)
    return calls


def test_words_and_variables_are_for_pytest(asked: list[Any]) -> None:
    folders = find("scale")
    TestRequest(folders, "emu", "reverse", keyword="small").run(print, lambda journal: None)
    ((given, _, words, variables, timeout, named),) = asked
    assert given == folders
    assert words == ["-k", "small"]
    assert variables == {"FICTL_DEVICE": "emu", "FICTL_EMU_SCHEDULE": "reverse"}
    assert (timeout, named["slots"], named["ranks"]) == (300.0, (), 1)


def test_several_processes_and_ranks_exclude_each_other(asked: list[Any]) -> None:
    with pytest.raises(UsageError, match="-n and --gpus exclude each other"):
        TestRequest(find("scale"), "emu", parallel="2", gpus=2).run(print, lambda journal: None)


def test_a_case_that_no_op_has_is_an_error(asked: list[Any]) -> None:
    with pytest.raises(UsageError, match="there is no case 'nothing-like-it'"):
        TestRequest(find("scale"), "emu", case="nothing-like-it").run(print, lambda journal: None)
    assert not asked
