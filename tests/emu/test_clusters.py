"""Thread block clusters, and the shared memory of one block as the others reach it."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fictl.emu.device import Watched

SOURCE = Path(__file__).with_name("kernels") / "clusters.cu"
BAD_CLUSTER, FAILED = 912, 719
FROM_LAUNCH, NONE, FIXED, TEMPLATE, BOTH, LARGE = range(6)
RELAXED, NOT_BEGUN, LEFT, TWICE, NO_ARRIVAL, ANOTHER_WAY, NO_RANK, BLOCK_SPACE = range(8)
EXCHANGES = ("generic", "st", "red", "cooperative groups", "dynamic", "rank in the address")


@pytest.fixture(params=[False, True], ids=["fast", "check"])
def library(request, emulate, device, schedule) -> Iterator[ctypes.CDLL]:
    library = emulate("clusters.cu", checked=request.param)
    device.run_under(schedule)
    yield library
    assert [report.text() for report in device.take_reports()] == []


def _rows(library, how: int, x: int = 0, y: int = 0, blocks: int = 8) -> list[list[int]]:
    out = (ctypes.c_uint32 * (16 * blocks))()
    assert library.described(how, x, y, out) == 0
    return [list(out[16 * i : 16 * i + 16]) for i in range(blocks)]


def _expected(bx: int, by: int, x: int, y: int, grid: tuple[int, int], explicit: bool) -> list[int]:
    rank = bx % x + by % y * x
    shape = [x, y, 1, bx // x, by // y, grid[0] // x, grid[1] // y, int(explicit)]
    return [rank, x * y, bx % x, by % y, 0, *shape, rank, x * y, 2 * rank + 1]


@pytest.mark.parametrize(
    ("how", "x", "y", "explicit"),
    [
        (FROM_LAUNCH, 2, 1, True),
        (FROM_LAUNCH, 4, 2, True),
        (FROM_LAUNCH, 1, 2, True),
        (NONE, 1, 1, False),
        (FIXED, 2, 1, True),
        (TEMPLATE, 2, 2, True),
    ],
)
def test_a_block_knows_its_place(library, how, x, y, explicit) -> None:
    rows = _rows(library, how, x, y)
    for by in range(2):
        for bx in range(4):
            assert rows[4 * by + bx] == _expected(bx, by, x, y, (4, 2), explicit)


def test_a_kernel_may_allow_sixteen_blocks(library) -> None:
    rows = _rows(library, LARGE, 16, 1, 32)
    assert [row[0] for row in rows] == [*range(16)] * 2


@pytest.mark.parametrize("way", range(6), ids=EXCHANGES)
def test_every_block_gets_a_word_of_each_peer(library, way) -> None:
    size = 4
    out = (ctypes.c_uint32 * (2 * size))()
    assert library.exchange(way, size, out) == 0
    assert list(out) == [sum(100 * i + rank for i in range(size)) for rank in range(size)] * 2


def test_an_address_tells_its_block(library) -> None:
    out = (ctypes.c_uint32 * 10)()
    assert library.spaces(out) == 0
    assert list(out) == [1, 1, 1, 0, 1, 0, 0, 1, 0, 1]


def test_the_barrier_counts_the_threads_that_have_not_returned(library) -> None:
    out = (ctypes.c_uint32 * 1)()
    assert library.returning(out) == 0
    assert list(out) == [96]


@pytest.mark.parametrize(
    ("how", "x", "y", "says"),
    [
        (FROM_LAUNCH, 3, 1, r"cluster \(3, 1, 1\) does not divide the grid \(4, 2, 1\)"),
        (LARGE, 16, 2, "32 blocks, more than 16"),
    ],
)
def test_a_cluster_that_a_gpu_refuses_is_refused(emulate, device, how, x, y, says) -> None:
    out = (ctypes.c_uint32 * 512)()
    assert emulate("clusters.cu").described(how, x, y, out) == BAD_CLUSTER
    (report,) = device.take_reports()
    assert report.kind == "bad-launch"
    assert re.search(says, report.what)


def test_a_launch_must_not_contradict_the_kernel(emulate, device) -> None:
    out = (ctypes.c_uint32 * 512)()
    assert emulate("clusters.cu").described(BOTH, 4, 1, out) == FAILED
    (report,) = device.take_reports()
    assert "__cluster_dims__" in report.what


DEFECTS = [
    (RELAXED, "race", "// RELAXED", "barrier.cluster", True),
    (NOT_BEGUN, "cluster-target-gone", "// EARLY", "need not have begun", True),
    (LEFT, "cluster-target-gone", "// LATE", "block 1 of", True),
    (TWICE, "barrier-mismatch", "barrier.cluster.arrive.release", "has not waited", False),
    (NO_ARRIVAL, "barrier-mismatch", "barrier.cluster.wait", "has not arrived", False),
    (ANOTHER_WAY, "deadlock", "", "of block 1 of the cluster wait at named barrier 1", False),
    (NO_RANK, "cluster-target-gone", "", "block 2 of a cluster of 2 blocks", False),
    (BLOCK_SPACE, "bad-address", "", "shared::cluster", False),
]
NAMES = [f"{kind}-{which}" for which, kind, *_ in DEFECTS]


@pytest.fixture
def defective(emulate, device, schedule):
    out = (ctypes.c_uint32 * 4)()

    def run(which: int, bug: bool, checked: bool):
        library = emulate("clusters.cu", checked=checked)
        device.watch([Watched("out", ctypes.addressof(out), 4, (4,), (1,), True)])
        device.run_under(schedule)
        return library.defective(which, bug, out), device.take_reports()

    return run


@pytest.mark.parametrize(("which", "kind", "line", "says", "checked"), DEFECTS, ids=NAMES)
def test_a_defect_is_found_in_every_schedule(defective, which, kind, line, says, checked) -> None:
    _, reports = defective(which, True, checked)
    found = [report for report in reports if report.kind == kind]
    assert found, [report.text() for report in reports]
    assert any(says in report.text() for report in found), [r.text() for r in found]
    lines = SOURCE.read_text().splitlines()
    assert not line or any(line in lines[report.place.line - 1] for report in found)


@pytest.mark.parametrize("checked", [False, True], ids=["fast", "check"])
@pytest.mark.parametrize("which", range(8), ids=NAMES)
def test_nothing_is_said_of_the_corrected_twin(defective, which, checked) -> None:
    assert defective(which, False, checked) == (0, [])
