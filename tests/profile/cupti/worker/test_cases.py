"""Cases of one op, recorded in the process that is theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fictl.case.options import CaseOptions
from fictl.child.message import received
from fictl.errors import NotOnDevice
from fictl.profile.cupti.work import BETWEEN
from fictl.profile.cupti.worker import cases
from fictl.timing.rotation import Rotation


@pytest.fixture(autouse=True)
def _warm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "_WARM_UP_SECONDS", 0.0)


def test_so_many_calls_are_recorded_over_the_copies_in_turn(cupti):
    grids = [(1, 1, 1), (2, 1, 1)]
    calls = tuple(lambda x=x: cupti.launch(grid_x=x) for x, _, _ in grids)
    profile = cases.record(Rotation("op", calls, cold=True), 5)
    assert [kernel.grid[0] for kernel in profile.kernels] == [1, 2, 1, 2, 1]
    assert [kernel.call for kernel in profile.kernels] == [0, 1, 2, 3, 4]
    assert profile.summary.calls == 5


def test_the_first_call_finds_its_copy_as_cold_as_the_others_do(cupti):
    used: list[int] = []
    calls = tuple(lambda i=i: (used.append(i), cupti.launch()) for i in range(3))
    cases.record(Rotation("op", calls, cold=True), 2)
    assert used == [0, 1, 2, 2, 0, 1]


def test_what_makes_l2_cold_is_of_no_call(cupti):
    flush = lambda: cupti.launch("MEMSET", bytes=1 << 27)  # noqa: E731
    profile = cases.record(Rotation("op", (cupti.launch,), cold=True, flush=flush), 2)
    assert [work.call for work in profile.work] == [BETWEEN, 0, BETWEEN, 1]
    assert profile.summary.copies == ()


def request(folder: Path, case: str, functions: list[str]) -> dict:
    options = CaseOptions(case=case).to_dict()
    return {
        "op": str(folder / "op.py"),
        "functions": functions,
        "options": options,
        "calls": 2,
        "trace": "t.json",
    }


def said(capfd) -> list[dict]:
    return [m for m in map(received, capfd.readouterr().out.split("\n")) if m]


def test_a_case_that_fails_leaves_the_others_to_be_run(capfd, monkeypatch):
    monkeypatch.setattr(cases, "_profiled", lambda request: request["name"])
    monkeypatch.setattr(cases, "device_fault", lambda: None)
    assert cases.main([json.dumps([{}, {"name": "second"}])]) == 0
    failed, summary = said(capfd)
    assert (failed["kind"], failed["message"], failed["code"]) == ("failed", "KeyError: 'name'", 1)
    assert summary["summary"] == "second"


def test_behind_a_fault_of_the_gpu_nothing_is_run(monkeypatch, capfd):
    monkeypatch.setattr(cases, "device_fault", RuntimeError)
    assert cases.main([json.dumps([{}, {}])]) == 1
    assert len(said(capfd)) == 1


def test_an_op_for_another_device_says_so(tiny):
    op = tiny / "kernels" / "elementwise" / "twice" / "op.py"
    text = op.read_text(encoding="utf-8").replace('devices="cuda emu"', 'devices="emu"')
    op.write_text(text, encoding="utf-8")
    with pytest.raises(NotOnDevice, match="is for emu, not for cuda"):
        cases._case(request(op.parent, "twice-1-int32", ["twice"]))
