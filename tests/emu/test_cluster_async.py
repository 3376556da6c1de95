"""Asynchronous operations, and arrivals at barriers, from one block of a cluster to another."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from .test_ranks import address, watched

SOURCE = Path(__file__).with_name("kernels") / "cluster_async.cu"
FAILED = 719
NONE, NO_SUCH_BLOCK, NOT_ARMED, LEAVES = range(4)


@pytest.fixture(params=[False, True], ids=["fast", "check"])
def library(request, emulate, device, schedule) -> Iterator[ctypes.CDLL]:
    library = emulate("cluster_async.cu", checked=request.param)
    device.run_under(schedule)
    yield library
    assert [report.text() for report in device.take_reports()] == []


@pytest.fixture
def checked(emulate, device, schedule) -> ctypes.CDLL:
    device.run_under(schedule)
    return emulate("cluster_async.cu", checked=True)


def output(device, count: int, type_: torch.dtype = torch.int32) -> torch.Tensor:
    out = torch.full((count,), -1, dtype=type_)
    device.watch([watched("out", out)])
    return out


def _exchanged(words: int) -> list[int]:
    return [1000 * rank + i for rank in (1, 0) for i in range(32 * words)]


@pytest.mark.parametrize("size", [4, 8, 16])
def test_stores_complete_at_the_barrier_of_the_block_that_gets_them(library, device, size) -> None:
    out = output(device, 2 * 8 * size)
    assert library.store_async(size, False, address(out)) == 0
    assert out.tolist() == _exchanged(size // 4)


def test_what_is_taken_before_the_wait_is_not_there(emulate, device) -> None:
    """In the forward schedule, in which operations end as late as they may."""
    out = output(device, 2 * 128)
    assert emulate("cluster_async.cu").store_async(16, True, address(out)) == 0
    assert out.tolist() != _exchanged(4)


def test_check_mode_finds_that_in_every_schedule(checked, device) -> None:
    out = output(device, 2 * 128)
    checked.store_async(16, True, address(out))
    reports = device.take_reports()
    lines = SOURCE.read_text().splitlines()
    assert any("// TAKES" in lines[report.place.line - 1] for report in reports)
    kinds = {"race", "uninitialised", "async-read-early", "stage-reused"}
    assert {report.kind for report in reports} <= kinds


def test_an_arrival_tells_another_block(library, device) -> None:
    out = output(device, 4)
    assert library.arrive_at_other(False, address(out)) == 0
    assert out.tolist() == [-1, 11, 12, 13]


def test_a_relaxed_arrival_tells_nothing(checked, device) -> None:
    out = output(device, 4)
    checked.arrive_at_other(True, address(out))
    (report, *_) = device.take_reports()
    assert report.kind == "race"
    assert "// COLLECTS" in SOURCE.read_text().splitlines()[report.place.line - 1]
    assert "words" in report.what


def test_bytes_are_announced_at_the_barrier_of_another_block(library, device) -> None:
    out = output(device, 4)
    assert library.expect_at_other(address(out)) == 0
    assert out.tolist() == [1, 2, 3, 4]


def test_nobody_waits_at_the_barrier_of_another_block(emulate, device, schedule) -> None:
    out = output(device, 1)
    device.run_under(schedule)
    assert emulate("cluster_async.cu").wait_at_other(address(out)) == FAILED
    kinds = {report.kind for report in device.take_reports()}
    assert kinds <= {"not-a-barrier", "bad-address"}
    assert kinds


@pytest.fixture
def source() -> torch.Tensor:
    return torch.arange(256, dtype=torch.float32)


@pytest.mark.parametrize(("x", "y"), [(2, 1), (1, 2), (4, 1)])
def test_every_block_gets_the_tiles_of_all(library, device, source, x, y) -> None:
    out = torch.full((x * y, 256), -1.0)
    device.watch([watched("in", source), watched("out", out)])
    assert library.multicast(x, y, NONE, address(source), address(out)) == 0
    assert all(torch.equal(row, source) for row in out)


@pytest.mark.parametrize(
    ("mistake", "kind", "says"),
    [
        (NO_SUCH_BLOCK, "cluster-target-gone", "rank 2, which the cluster does not have"),
        (LEAVES, "cluster-target-gone", "rank 1, which has ended"),
        (NOT_ARMED, "tx-mismatch", "full"),
    ],
)
def test_a_mistake_in_a_multicast(emulate, device, source, mistake, kind, says) -> None:
    out = torch.zeros(2, 256)
    library = emulate("cluster_async.cu")
    library.multicast(2, 1, mistake, address(source), address(out))
    reports = device.take_reports()
    assert kind in {report.kind for report in reports}, [r.text() for r in reports]
    assert any(says in report.what for report in reports)
