"""A kernel that cannot go on is stopped with a report, and the process lives on."""

from __future__ import annotations

import ctypes

import pytest

NULL, WILD, OVERFLOW, DIVIDE, ASSERT, SPIN, FLAG, BAD_GRID, BAD_SHARED = range(9)
LAUNCH_FAILURE = 719


@pytest.fixture
def run(emulate, device):
    out = (ctypes.c_int * 64)()
    library = emulate("stopped.cu")

    def run(which: int):
        ctypes.memset(out, 0, ctypes.sizeof(out))
        return library.run(which, out), device.take_reports(), out

    return run


@pytest.mark.parametrize(
    ("which", "kind", "line", "said"),
    [
        (NULL, "null-pointer", 7, "address 0x0"),
        (WILD, "bad-address", 9, "0x200000000000"),
        (OVERFLOW, "stack-overflow", 11, "64 KiB"),
        (DIVIDE, "division-by-zero", 18, "integer division"),
        (ASSERT, "assert", 20, "threadIdx.x < 3"),
    ],
)
def test_a_fault_is_a_report_with_kernel_and_line(run, which, kind, line, said) -> None:
    code, (report,), _ = run(which)
    assert code == LAUNCH_FAILURE
    assert report.kind == kind
    assert report.place.file.endswith("stopped.cu")
    assert abs(report.place.line - line) <= 3
    assert said in report.text()
    assert report.kernel in ("Null", "Wild", "Overflow", "Divide", "Assert")


def test_the_next_launch_works(run) -> None:
    run(OVERFLOW)
    code, reports, out = run(FLAG)
    assert (code, reports, out[0]) == (0, [], 1)


def test_a_thread_that_spins_on_memory_lets_the_others_run(run, device, schedule) -> None:
    device.run_under(schedule)
    code, reports, out = run(FLAG)
    assert (code, reports, out[0]) == (0, [], 1)


def test_a_loop_without_an_end_is_stopped(run, device, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_EMU_TIMEOUT", "1")
    device.run_under(device.schedule)
    code, (report,), _ = run(SPIN)
    assert (code, report.kind) == (LAUNCH_FAILURE, "hang")
    assert report.place.file.endswith("stopped.cu")


@pytest.mark.parametrize(
    ("which", "said"), [(BAD_GRID, "(1, 1, 70000)"), (BAD_SHARED, "245760 bytes of dynamic shared")]
)
def test_a_launch_that_no_gpu_takes_is_refused(run, which, said) -> None:
    code, (report,), _ = run(which)
    assert code != 0
    assert report.kind == "bad-launch"
    assert said in report.what
