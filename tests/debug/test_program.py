"""What runs under a debugger: one call of a small case, or an error in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.case.messages import CaseRequest
from fictl.case.options import CaseOptions
from fictl.child.codec import to_text
from fictl.debug.program import main
from fictl.errors import UsageError


class Workload:
    def __init__(self, working_set: int) -> None:
        self.working_set = working_set


class Call:
    """Stands for a CaseCall and for its trial."""

    def __init__(self, size: int, called: list[int]) -> None:
        self.case, self.called, self.trial, self.workload = size, called, self, Workload(size)

    def __call__(self) -> None:
        self.called.append(self.case)


@pytest.fixture
def request_of(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    op = tiny / "kernels" / "elementwise" / "twice" / "op.py"
    return to_text(CaseRequest(op, ("twice",), CaseOptions()))


@pytest.mark.parametrize(("sizes", "chosen"), [([1 << 20, 64, 600, 512], 512), ([64, 128, 8], 128)])
def test_the_smallest_case_that_fills_a_warp_is_called_once(
    request_of: str, monkeypatch: pytest.MonkeyPatch, sizes: list[int], chosen: int
) -> None:
    called: list[int] = []
    cases = [Call(size, called) for size in sizes]
    monkeypatch.setattr("fictl.debug.program.case_calls", lambda *asked: iter(cases))
    assert main([request_of]) == 0
    assert called == [chosen]


def test_what_goes_wrong_is_said_without_a_traceback(request_of: str, monkeypatch) -> None:
    def none(*asked: object) -> None:
        raise UsageError("no case of twice matches 7", "it has twice-1")

    monkeypatch.setattr("fictl.debug.program.case_calls", none)
    with pytest.raises(SystemExit, match="no case of twice matches 7\n  hint: it has twice-1"):
        main([request_of])
