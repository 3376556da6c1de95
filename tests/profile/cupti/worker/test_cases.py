"""Cases of one op, recorded in the process that is theirs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fictl.case.messages import CaseRequest
from fictl.case.options import CaseOptions
from fictl.child.codec import to_text
from fictl.child.message import document_in
from fictl.errors import NotOnDevice
from fictl.profile.cupti.messages import CuptiRequest, TracedCase
from fictl.profile.cupti.summarise import summarise
from fictl.profile.cupti.summary import CuptiSummary
from fictl.profile.cupti.worker import cases


def traced(folder: Path, case: str) -> TracedCase:
    request = CaseRequest(folder / "op.py", ("twice",), CaseOptions(case=case), 2)
    return TracedCase(request, Path("t.json"))


def sent(capfd) -> list[dict]:
    lines = capfd.readouterr().out.split("\n")
    return [document for document in map(document_in, lines) if document]


def test_a_case_that_fails_leaves_the_others_to_be_run(capfd, monkeypatch, kernel):
    summary = summarise("s", [kernel()], [], lambda index: None)
    names = {"first": {}, "second": {"second": replace(summary, name="second")}}

    def profiled(case: TracedCase) -> CuptiSummary:
        name = case.case.options.case
        return names[name][name]

    monkeypatch.setattr(cases, "_profiled", profiled)
    monkeypatch.setattr(cases, "device_fault", lambda: None)
    request = CuptiRequest((traced(Path(), "first"), traced(Path(), "second")))
    assert cases.main([to_text(request)]) == 0
    failed, second = sent(capfd)
    failure = failed["failure"]
    assert (failed["kind"], failure["message"], failure["code"]) == (
        "CaseFailed",
        "KeyError: 'first'",
        1,
    )
    assert second["summary"]["name"] == "second"


def test_behind_a_fault_of_the_gpu_nothing_is_run(monkeypatch, capfd):
    def fails(case: TracedCase) -> None:
        raise RuntimeError("illegal address")

    monkeypatch.setattr(cases, "_profiled", fails)
    monkeypatch.setattr(cases, "device_fault", RuntimeError)
    request = CuptiRequest((traced(Path(), "first"), traced(Path(), "second")))
    assert cases.main([to_text(request)]) == 1
    assert len(sent(capfd)) == 1


def test_an_op_for_another_device_says_so(tiny):
    op = tiny / "kernels" / "elementwise" / "twice" / "op.py"
    text = op.read_text(encoding="utf-8").replace('devices="cuda emu"', 'devices="emu"')
    op.write_text(text, encoding="utf-8")
    with pytest.raises(NotOnDevice, match="is for emu, not for cuda"):
        cases._chosen(traced(op.parent, "twice-1-int32").case)
