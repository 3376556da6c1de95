"""A pipeline of tensor loads over fictl's own ring, in every schedule: right, and with planted mistakes."""

from __future__ import annotations

import ctypes
import re
import time

import pytest
import torch

from fictl.emu.device import EmulatedDevice
from fictl.emu.schedule import Schedule, all_schedules

LAUNCH_FAILURE = 719
SOURCE = "hopper_ring.cu"
(NONE, NO_FULL, NEXT_PARITY, NO_EMPTY, CLAMPED, NO_RELEASE, ALL_LANES, NO_EXPECT, REUSE) = range(9)


class Sum:
    """One run of the kernel: its error code and how far its result is from torch's."""

    def __init__(self, library: ctypes.CDLL, stages: int, mistake: int, rows: int, columns: int):
        x = torch.randint(-8, 9, (rows, columns)).half()
        out = torch.zeros(rows, 128, dtype=torch.float16)
        self.code = library.sum(
            stages, mistake, *(ctypes.c_void_p(t.data_ptr()) for t in (x, out)), rows, columns
        )
        padded = torch.nn.functional.pad(x.float(), (0, -columns % 64))
        sums = padded.unflatten(1, (-1, 64)).sum(1).half()
        self.is_right = torch.equal(out, torch.cat([sums, -sums], 1))


@pytest.mark.parametrize("checked", [False, True], ids=["fast", "check"])
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_a_pipeline_sums_all_tiles(emulate, device, schedule, stages, checked) -> None:
    library = emulate(SOURCE, checked=checked)
    device.run_under(schedule)
    for rows, columns in [(32, 64), (32, 320), (40, 328), (70, 8)]:
        run = Sum(library, stages, NONE, rows, columns)
        assert [report.text() for report in device.take_reports()] == []
        assert (run.code, run.is_right) == (0, True)


@pytest.mark.parametrize("mistake", [NO_FULL, NEXT_PARITY, NO_EMPTY, ALL_LANES, REUSE])
def test_a_mistake_shows_in_the_result_of_a_schedule(emulate, device, mistake) -> None:
    """Late copies over NaN show what is read too early; early ones what is refilled too early."""
    runs = []
    for schedule in all_schedules():
        device.run_under(schedule)
        run = Sum(emulate(SOURCE), 2, mistake, 32, 320)
        runs.append(run.code == 0 and run.is_right)
        device.take_reports()
    assert not all(runs)


@pytest.mark.parametrize(
    ("mistake", "cause"),
    [
        (NO_FULL, "the wait for the mbarrier that counts this copy is missing"),
        (NEXT_PARITY, r"at mbarrier \S*full\[\d\], returned at once, as for the phase before the first"),
        (NO_EMPTY, "the producer has not waited for it|without waiting for it to be empty"),
    ],
)
def test_check_mode_names_the_wait_that_is_missing(emulate, device, mistake, cause) -> None:
    causes = []
    for schedule in all_schedules()[:2]:
        device.run_under(schedule)
        Sum(emulate(SOURCE, checked=True), 2, mistake, 32, 320)
        causes += [report.cause for report in device.take_reports()]
    assert any(re.search(cause, each) for each in causes), causes


def test_a_mistake_in_the_bytes_is_named(emulate, device, schedule) -> None:
    device.run_under(schedule)
    run = Sum(emulate(SOURCE), 2, CLAMPED, 32, 200)
    (report,) = device.take_reports()
    assert (run.code, report.kind) == (LAUNCH_FAILURE, "tx-mismatch")
    assert "2048 bytes more than the 2048 expected" in report.text()
    assert "whole boxes" in report.cause
    assert report.other
    assert report.other.what == "the latest copy: a tensor load of box {64, 32}, corner {192, 0}"
    assert report.other.place.file.endswith("bulk_copy.cuh")


@pytest.mark.parametrize(
    ("mistake", "patterns"),
    [
        (NO_RELEASE, ["threads 64 wait at mbarrier ring.empty[", "1 of 2 arrivals missing"]),
        (NO_EXPECT, ["threads 0-63 wait at mbarrier ring.full[0], ", "1 of 1 arrival missing"]),
    ],
)
def test_a_pipeline_that_stands_still_names_its_barriers(
    emulate, device, schedule, mistake, patterns
) -> None:
    device.run_under(schedule)
    run = Sum(emulate(SOURCE), 2, mistake, 32, 320)
    (report,) = device.take_reports()
    assert (run.code, report.kind) == (LAUNCH_FAILURE, "deadlock")
    assert [pattern for pattern in patterns if pattern not in report.text()] == [], report.text()


def test_the_loads_of_a_gemm_take_some_ten_milliseconds(emulate, device: EmulatedDevice) -> None:
    """48 KiB a step, 4 steps, 384 threads."""
    library = emulate(SOURCE)
    a, b = torch.ones(128, 256).half(), torch.ones(256, 256).half()
    out = (ctypes.c_int * 256)()
    device.run_under(Schedule(), threads=1)
    seconds = []
    for _ in range(5):
        begin = time.process_time()
        pointers = (ctypes.c_void_p(t.data_ptr()) for t in (a, b))
        assert library.gemm(*pointers, out) == 0
        seconds.append(time.process_time() - begin)
    assert device.take_reports() == []
    assert min(seconds) < 0.05
