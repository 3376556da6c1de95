"""The process of an op: what it says, and what its end means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.case.options import CaseOptions
from fictl.child.codec import to_text
from fictl.errors import SetupError
from fictl.profile.cupti import run_cupti as run
from fictl.profile.cupti.summarise import summarise
from fictl.profile.request import ProfileRequest
from fictl.project import OpFolder

_PROGRAM = """
import os, signal, sys, time
from dataclasses import replace
from fictl.child.codec import from_text
from fictl.child.message import Failed, send
from fictl.child.program import request_in
from fictl.profile.cupti.messages import CaseFailed, CaseProfiled, CuptiRequest
from fictl.profile.cupti.summary import CuptiSummary
summary = from_text(CuptiSummary, open("summary.json").read())
for traced in request_in(sys.argv[1:], CuptiRequest).cases:
    case = traced.case.options.case
    with open("ran", "a") as file:
        file.write(case + " ")
    if case == "good":
        send(CaseProfiled(replace(summary, name=case, trace=str(traced.trace))))
    elif case == "busy":
        send(CaseFailed(Failed("CUPTI refuses", "one at a time", 3)))
    elif case == "fault":
        send(CaseFailed(Failed("AcceleratorError: illegal address", "", 1)))
        sys.exit(1)
    elif case == "dies":
        print("what a driver says", flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    elif case == "hangs":
        time.sleep(60)
"""


@pytest.fixture
def profiled(tiny: Path, monkeypatch, kernel) -> Callable[..., list]:
    """The outcomes of cases whose names say what becomes of them."""
    folder = OpFolder.of(tiny / "kernels" / "elementwise" / "twice" / "op.py")
    (tiny / "stand_in_worker.py").write_text(_PROGRAM, encoding="utf-8")
    summary = summarise("s", [kernel()], [], lambda index: None)
    (tiny / "summary.json").write_text(to_text(summary), encoding="utf-8")
    monkeypatch.syspath_prepend(tiny)
    monkeypatch.setattr(run, "_PROGRAM", "stand_in_worker")

    def outcomes(*cases: str, timeout: float = 60.0, **more) -> list:
        asked = [
            ProfileRequest(folder, frozenset({"twice"}), CaseOptions(case=case, timeout=timeout), 2)
            for case in cases
        ]
        return list(run.profile(asked, **more))

    return outcomes


def test_each_case_has_its_summary_and_its_timeline(profiled):
    good, again = profiled("good", "good")
    assert good.result.name == "good"
    assert good.result.trace == again.result.trace == "profiles/good.trace.json"


def test_the_timeline_goes_where_it_is_asked_for(profiled, tmp_path):
    (good,) = profiled("good", trace=tmp_path / "here.json")
    assert good.result.trace == str(tmp_path / "here.json")


def test_what_this_machine_cannot_do_is_an_error_of_its_kind(profiled):
    busy, good = profiled("busy", "good")
    assert isinstance(busy.error, SetupError)
    assert (busy.result, busy.error.hint) == (None, "one at a time")
    assert good.result


def test_behind_a_fault_the_others_have_a_process_of_their_own(profiled, tiny):
    fault, good = profiled("fault", "good")
    assert "illegal address" in fault.error.message
    assert good.result
    assert (tiny / "ran").read_text() == "fault good "


def test_a_process_that_dies_is_the_case_s_failure_with_its_last_words(profiled):
    said: list[str] = []
    good, dead, other = profiled("good", "dies", "good", say=said.append)
    assert good.result
    assert other.result
    assert dead.error.message == "it ended its process with SIGSEGV"
    assert dead.error.hint == "what a driver says"
    assert said


def test_one_that_hangs_is_killed(profiled):
    (late,) = profiled("hangs", timeout=1.5)
    assert late.error.message == "it did not end within 1.5 s, and was killed"
