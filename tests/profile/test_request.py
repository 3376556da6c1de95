"""A case as a program that any tool can be put before."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fictl.case.messages import CaseRequest
from fictl.case.options import CaseOptions
from fictl.child.codec import from_text
from fictl.errors import SetupError
from fictl.profile.request import ProfileRequest
from fictl.project import OpFolder


@pytest.fixture
def request_of(tiny: Path) -> ProfileRequest:
    folder = OpFolder.of(tiny / "kernels" / "elementwise" / "twice" / "op.py")
    return ProfileRequest(
        folder, frozenset({"twice"}), CaseOptions(case="twice-8"), 3, Path("kept")
    )


def test_its_program_is_told_everything(request_of):
    python, _, program, text = request_of.program.argv()
    assert (python, program) == (sys.executable, "fictl.case.one_case")
    case = from_text(CaseRequest, text)
    assert (case.functions, case.calls) == (("twice",), 3)
    assert case.options == request_of.options
    assert case.op == request_of.folder.op


def test_nothing_else_watches_its_calls(request_of, monkeypatch):
    monkeypatch.setenv("FICTL_LOGLEVEL", "3")
    variables = request_of.program.variables
    assert variables["FICTL_LOGLEVEL"] == "0"
    assert variables["FICTL_DEVICE"] == "cuda"


def test_what_is_kept_is_named_for_its_case_and_stays_out_of_git(request_of):
    assert request_of.file(".trace.json") == Path("kept/twice-8.trace.json")
    assert Path("kept/.gitignore").read_text() == "*\n"


def test_a_folder_that_was_there_is_left_as_it_is(request_of):
    Path("kept").mkdir()
    request_of.file(".trace.json")
    assert not list(Path("kept").iterdir())


def test_a_place_that_cannot_be_made_is_an_error(request_of):
    Path("kept").write_text("a file")
    with pytest.raises(SetupError, match="kept cannot be made"):
        request_of.file(".trace.json")
