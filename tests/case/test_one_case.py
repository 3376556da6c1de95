from __future__ import annotations

from collections.abc import Collection

import pytest

from fictl.case.messages import CaseRequest
from fictl.case.one_case import case_calls, main
from fictl.case.options import CaseOptions
from fictl.child.codec import to_text
from fictl.project import OpFolder

SMALL = CaseOptions(case="-64")


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")


def messages(folder: OpFolder, names: Collection[str], capfd) -> tuple[int, str]:
    code = main([to_text(CaseRequest(folder.op, (*names,), SMALL))])
    return code, capfd.readouterr().out


def test_a_call_runs_the_op_on_tensors_of_its_own(hostile: OpFolder) -> None:
    (call,) = case_calls(hostile, ["right"], SMALL)
    call()
    assert call.trial.copy(0).outputs["out"].isnan().sum() == 0
    assert call.problem == ""


def test_the_program_names_its_case_and_ends(hostile: OpFolder, capfd) -> None:
    code, output = messages(hostile, ["right"], capfd)
    assert code == 0
    assert "right-64" in output
    assert "Done" in output


def test_a_function_without_cases_is_an_error(hostile: OpFolder, capfd) -> None:
    code, output = messages(hostile, ["nobody"], capfd)
    assert code == 2
    assert "no case of nobody matches" in output
