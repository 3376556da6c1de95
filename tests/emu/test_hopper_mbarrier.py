"""mbarriers of the emulated device: phases, bytes and states, and reports of their wrong use, in every schedule."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.emu.report import Report

pytestmark = pytest.mark.usefixtures("compiler")

LAUNCH_FAILURE = 719
SOURCE = Path(__file__).with_name("kernels") / "hopper_mbarrier.cu"
(RING, STATES, DROP, BYTES, COPIES, PEEK, SPIN) = range(7)
(REINIT, NEVER, OVERWRITTEN, MANY, COUNT, UNALIGNED, NOWHERE, FEW, MORE, ARRIVAL) = range(7, 17)

Run = Callable[[int, int], list[int]]


@pytest.fixture(params=[False, True], ids=["fast", "check"])
def run(request, emulate, device, schedule) -> Run:
    """Run a correct kernel: nothing is reported of it."""
    library = emulate(SOURCE.name, checked=request.param)
    device.run_under(schedule)

    def run(which: int, n: int = 0) -> list[int]:
        out = (ctypes.c_int * 256)(*[0] * 128, *range(128))
        assert library.run(which, out, n) == 0
        assert [report.text() for report in device.take_reports()] == []
        return list(out)

    return run


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_a_ring_hands_every_slot_to_every_consumer(run: Run, stages: int) -> None:
    assert run(RING, stages)[:64] == [511] * 64


def test_a_state_tells_when_its_phase_is_over_and_what_it_waited_for(run: Run) -> None:
    out = run(STATES)
    assert out[:32] == list(range(31, -1, -1))
    assert out[32] == 0  # two arrivals each: an even number was pending


def test_a_thread_that_drops_out_is_not_expected_again(run: Run) -> None:
    assert run(DROP)[:32] == [1] * 31 + [0]


def test_a_phase_ends_with_its_arrivals_and_its_bytes_in_any_order(run: Run) -> None:
    assert run(BYTES)[:4] == [0, 1, 2, 5]


@pytest.mark.parametrize("counted", [0, 1], ids=["noinc", "inc"])
def test_copies_of_a_thread_that_has_ended_arrive_when_they_have_landed(run: Run, counted) -> None:
    assert run(COPIES, counted)[:128] == list(range(127, -1, -1))


def test_a_look_at_a_phase_that_this_thread_ends_says_no(run: Run) -> None:
    assert run(PEEK)[:3] == [0, 2, 1]
    assert run(SPIN)[:2] == [0, 1]


# which, n, whether the kernel is stopped, kind, a piece of the line, patterns of the text
WRONG = [
    (REINIT, 0, True, "barrier-reinit", "by every thread", ["of barrier, which is in use"]),
    (NEVER, 0, True, "not-a-barrier", "arrive(full[1])", [r"full\+8, where no mbarrier has been"]),
    (
        OVERWRITTEN,
        0,
        True,
        "not-a-barrier",
        "arrive(shared.barrier)",
        ["whose memory has been written over"],
    ),
    (MANY, 0, True, "barrier-overflow", ", 3;", [r"3 arrivals at mbarrier empty\+8.* 2 more"]),
    (COUNT, 0, True, "barrier-overflow", "init(barrier, n)", ["a count of 0, where 1 to 1048575"]),
    (COUNT, 1 << 20, True, "barrier-overflow", "init(barrier, n)", ["a count of 1048576"]),
    (UNALIGNED, 0, True, "misaligned", "+ 4)", [r"mbarrier.init at barriers\+4"]),
    (NOWHERE, 0, True, "not-a-barrier", '"l"(out)', ["not of shared memory"]),
    (
        FEW,
        0,
        True,
        "tx-mismatch",
        "wait(full[1], 0)",
        [r"full\+8 waits for bytes", "3072 of 4096 bytes missing", "0-31 wait at mbarrier full"],
    ),
    (MORE, 0, False, "tx-mismatch", "init(full, 1)", ["1024 bytes more than the 0 expected"]),
    (
        ARRIVAL,
        0,
        True,
        "deadlock",
        "wait(",
        [
            r"threads 0-31 wait at mbarrier full\[1\], parity 0, 1 of 1 arrival missing",
            r"threads 32-95 wait at mbarrier empty\[2\], parity 0, 2 of 4 arrivals missing",
            r"mbarrier (full\[1\] has 0 of the 1|empty\[2\] has 2 of the 4) arrivals",
        ],
    ),
]


@pytest.mark.parametrize(
    ("which", "n", "stops", "kind", "piece", "patterns"), WRONG, ids=[case[4] for case in WRONG]
)
def test_wrong_use_is_reported(
    emulate, device, schedule, which, n, stops, kind, piece, patterns
) -> None:
    library = emulate(SOURCE.name)
    device.run_under(schedule)
    code = library.run(which, (ctypes.c_int * 256)(), n)
    (report,) = device.take_reports()
    assert (code, report.kind) == (LAUNCH_FAILURE if stops else 0, kind)
    assert is_at(report, piece)
    missing = [pattern for pattern in patterns if not re.search(pattern, report.text())]
    assert not missing, report.text()


def is_at(report: Report, piece: str) -> bool:
    """Whether the place, or one that it was inlined at, is within two lines of that piece."""
    lines = SOURCE.read_text().splitlines()
    places = [str(report.place), *report.place.callers]
    numbers = [int(place.rpartition(":")[2]) for place in places if SOURCE.name in place]
    return any(piece in "".join(lines[max(0, n - 3) : n + 2]) for n in numbers)
