"""Programmatic dependent launch: what a kernel touches before its griddepcontrol.wait."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
import torch

from .test_ranks import address, watched

SOURCE = Path(__file__).with_name("kernels") / "ranks.cu"
N = 64
ALL_WAIT, ONE_WAITS, READS_EARLY, WRITES_EARLY, NEVER_WAITS = range(5)


class Chain:
    """The kernels, one after another, on tensors x -> y -> z; each call watches its own."""

    def __init__(self, library: ctypes.CDLL, device) -> None:
        self.library, self.device = library, device
        names = ("x", "y", "weight", "z", "last")
        self.tensors = {name: torch.ones(N) for name in names}

    def _watch(self, *names: str, read_only: str = "") -> list[ctypes.c_void_p]:
        rows = [watched(name, self.tensors[name]) for name in names]
        rows = [row if row.name != read_only else row.__class__(*_read_only(row)) for row in rows]
        self.device.watch(rows)
        return [address(self.tensors[name]) for name in names]

    def first(self) -> None:
        assert self.library.first(*self._watch("x", "y", read_only="x"), N) == 0

    def second(self, how: int) -> None:
        assert self.library.second(*self._watch("x", "y", "weight", "z"), how, N) == 0

    def third(self, early: bool) -> None:
        assert self.library.third(*self._watch("y", "last"), early, N) == 0


def _read_only(row):
    return (row.name, row.address, row.itemsize, row.shape, row.strides, False)


@pytest.fixture
def chain(emulate, device, schedule) -> Chain:
    library = emulate("ranks.cu", checked=True)
    device.run_under(schedule)
    return Chain(library, device)


def _lines(reports) -> set[str]:
    lines = SOURCE.read_text().splitlines()
    assert {report.kind for report in reports} <= {"pdl-early"}
    return {lines[report.place.line - 1].partition("// ")[2] for report in reports}


@pytest.mark.parametrize(
    ("how", "found"),
    [
        (ALL_WAIT, set()),
        (ONE_WAITS, set()),
        (READS_EARLY, {"EARLY READ"}),
        (WRITES_EARLY, {"EARLY WRITE"}),
        (NEVER_WAITS, set()),
    ],
)
def test_what_is_touched_before_the_wait(chain, how, found) -> None:
    chain.first()
    chain.second(how)
    assert _lines(chain.device.take_reports()) == found


def test_the_report_names_tensor_and_writer(chain) -> None:
    chain.first()
    chain.second(READS_EARLY)
    (report,) = chain.device.take_reports()
    assert "element [0] of tensor 'y'" in report.what or "of tensor 'y'" in report.what
    assert "has written" in report.what
    assert "y[threadIdx.x] = x" in SOURCE.read_text().splitlines()[report.other.place.line - 1]


@pytest.mark.parametrize(("how", "found"), [(ALL_WAIT, set()), (NEVER_WAITS, {"EARLY CHAIN"})])
def test_a_kernel_that_does_not_wait_leaves_the_first_one_open(chain, how, found) -> None:
    chain.first()
    chain.second(how)
    chain.third(early=True)
    assert _lines(chain.device.take_reports()) == found


def test_nothing_is_open_after_the_host_has_waited(chain) -> None:
    chain.first()
    assert chain.library.wait_for_all() == 0
    chain.second(READS_EARLY)
    assert chain.device.take_reports() == []


def test_a_launch_without_the_attribute_waits_for_all(chain) -> None:
    chain.first()
    chain.second(NEVER_WAITS)
    chain.first()
    chain.third(early=False)
    assert chain.device.take_reports() == []
