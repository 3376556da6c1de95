"""Shuffles, votes, reductions and barriers written in PTX, under every schedule."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import reduce
from operator import xor

import pytest

pytestmark = pytest.mark.usefixtures("compiler")

VALUES = [(37 * lane + 11) % 101 for lane in range(32)]
LARGE = [value > 50 for value in VALUES]
ALL = 0xFFFFFFFF


@pytest.fixture(params=[False, True], ids=["fast", "check"])
def library(request, emulate, device, schedule) -> Iterator[ctypes.CDLL]:
    library = emulate("ptx_warp.cu", checked=request.param)
    device.run_under(schedule)
    yield library
    assert device.take_reports() == []


def shuffled(source: Callable[[int], int], valid: Callable[[int], bool]) -> list[list[int]]:
    """What lanes get, and whether they got it from another."""
    got = [VALUES[source(lane)] if valid(lane) else VALUES[lane] for lane in range(32)]
    return [got, [int(valid(lane)) for lane in range(32)]]


def mask(lanes: list[bool]) -> int:
    return sum(1 << lane for lane, there in enumerate(lanes) if there)


ODD = [0 if lane % 2 == 0 else sum(VALUES[1::2]) for lane in range(32)]
ROWS = [
    *shuffled(lambda i: i - 3, lambda i: i >= 3),
    *shuffled(lambda i: i + 5, lambda i: i + 5 < 32),
    *shuffled(lambda i: i ^ 9, lambda i: True),
    *shuffled(lambda i: i // 8 * 8 + 2, lambda i: True),
    *shuffled(lambda i: i + 3, lambda i: i % 8 + 3 < 8),
    [0] * 32,
    [1] * 32,
    [0] * 32,
    [mask([not large for large in LARGE])] * 32,
    [mask([other % 3 == value % 3 for other in VALUES]) for value in VALUES],
    [ALL] * 32,
    [1] * 32,
    [sum(VALUES)] * 32,
    [min(VALUES)] * 32,
    [max(VALUES)] * 32,
    [reduce(xor, VALUES)] * 32,
    [0 if lane % 2 == 0 else 0xAAAAAAAA for lane in range(32)],
    ODD,
    [0] * 32,
    [1] + [0] * 31,
]


def test_lanes_get_what_the_manual_says(library) -> None:
    out = (ctypes.c_uint32 * (32 * len(ROWS)))()
    assert library.lanes((ctypes.c_uint32 * 32)(*VALUES), out) == 0
    assert [out[i : i + 32] for i in range(0, len(out), 32)] == ROWS


def test_barriers_order_and_count(library) -> None:
    out = (ctypes.c_uint32 * 96)()
    assert library.barriers((ctypes.c_uint32 * 32)(*VALUES), out) == 0
    assert out[:32] == [3 * sum(LARGE) << 8] * 32
    assert out[32:] == VALUES * 2
