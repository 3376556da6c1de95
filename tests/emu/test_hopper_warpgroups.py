"""Registers that move between warpgroups, and the rules of named barriers."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pytest

SOURCE = "hopper_warpgroups.cu"


@pytest.fixture(params=[False, True], ids=["fast", "check"])
def clean(request, emulate, device, schedule) -> Iterator[ctypes.CDLL]:
    library = emulate(SOURCE, checked=request.param)
    device.run_under(schedule)
    yield library
    assert device.take_reports() == []


def test_more_registers_are_waited_for(clean) -> None:
    tickets = (ctypes.c_int * 3)()
    assert clean.hand_over(0, tickets) == 0
    assert (tickets[0], sorted(tickets[1:])) == (0, [1, 2])


def test_pairs_of_sync_and_arrive_are_signals(clean) -> None:
    sums = (ctypes.c_int * 64)()
    assert clean.signals(6, sums) == 0
    assert list(sums) == [sum(turn * turn for turn in range(6))] * 64


def test_a_warp_counts_whole_whose_lanes_have_returned(clean) -> None:
    sums = (ctypes.c_int * 32)()
    assert clean.halves(sums) == 0
    assert list(sums) == [7] * 20 + [0] * 12


@pytest.mark.parametrize(
    ("how", "kind", "said"),
    [
        (1, "register-pool", "for 240 registers a thread: the warpgroups have 40, "),
        (2, "register-pool", "setmaxnreg.dec 200 in a warpgroup whose threads have 168"),
        (3, "register-pool", "setmaxnreg.inc 24 in a warpgroup whose threads have 168"),
        (4, "register-pool", "setmaxnreg.dec 16"),
        (5, "register-pool", "setmaxnreg.dec 100"),
        (6, "divergent-warpgroup", "come to setmaxnreg.dec with 24 and 32 registers"),
        (7, "deadlock", "for threads 96-127 of their warpgroup"),
    ],
)
def test_registers_that_cannot_move_are_reported(
    emulate, device, schedule, how, kind, said
) -> None:
    device.run_under(schedule)
    assert emulate(SOURCE).hand_over(how, (ctypes.c_int * 3)()) != 0
    (report,) = device.take_reports()
    assert (report.kind, report.place.file.endswith(SOURCE)) == (kind, True)
    assert said in report.text()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (0, "some lanes alone of a warp come"),
        (1, "some lanes alone of a warp come"),
        (2, "warp 1 comes to named barrier 1 again"),
        (3, "lanes of one warp come to the named barriers 1 and 2"),
        (4, "a barrier with the number 16"),
        (5, "a barrier for 48 threads"),
    ],
)
def test_a_named_barrier_refuses_what_it_cannot_count(emulate, device, schedule, how, said) -> None:
    device.run_under(schedule)
    assert emulate(SOURCE).refused(how) != 0
    (report,) = device.take_reports()
    assert (report.kind, report.place.file.endswith(SOURCE)) == ("barrier-mismatch", True)
    assert said in report.text()
