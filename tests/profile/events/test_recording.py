"""From slots of memory to what happened when."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from fictl.profile.events.layout import BEGIN, END, INSTANT, Slot, division, slot_bytes, slots
from fictl.profile.events.names import Names, identity
from fictl.profile.events.recording import Raw, decode

LOAD, MARK = identity("load"), identity("mark")
NAMES = Names({1: "k", 2: "m"}, {LOAD: "load", MARK: "mark"})


def slot(*events: tuple[int, int, int], **changes: Any) -> Slot:
    """Of a GPU whose cycles are ns; it begins at cycle 100, and ends at 1000."""
    facts: dict[str, Any] = {
        "begin": (5_000_100, 100),
        "end": (5_001_000, 1000),
        "block": 0,
        "blocks": 1,
        "kernel": 1,
        "sm": 0,
        "group": 0,
        "groups": 1,
        "warps": 1,
        "launch": 0,
        "tried": len(events),
        "events": events,
    }
    return Slot(**{**facts, **changes})


def warp(*events: tuple[int, int, int], **changes: Any):
    return decode({1: Raw(1, [slot(*events, **changes)])}, NAMES).kernels[0].warps[0]


def happened(
    *events: tuple[int, int, int], **changes: Any
) -> list[tuple[str, float, float | None]]:
    return [(each.name, each.begin, each.end) for each in warp(*events, **changes).happened]


def test_a_begin_and_its_end_are_one_event() -> None:
    assert happened((200, LOAD, BEGIN), (300, LOAD, END)) == [("load", 100, 200)]


def test_an_instant_has_no_end() -> None:
    assert happened((200, MARK, INSTANT)) == [("mark", 100, None)]


def test_events_of_one_name_may_lie_in_one_another() -> None:
    inner = (300, LOAD, BEGIN), (400, LOAD, END)
    assert happened((200, LOAD, BEGIN), *inner, (500, LOAD, END)) == [
        ("load", 100, 400),
        ("load", 200, 300),
    ]


def test_events_of_two_names_may_overlap() -> None:
    events = (200, LOAD, BEGIN), (300, MARK, BEGIN), (400, LOAD, END), (500, MARK, END)
    assert happened(*events) == [("load", 100, 300), ("mark", 200, 400)]


def test_a_begin_without_an_end_lasts_as_long_as_the_warp() -> None:
    assert happened((200, LOAD, BEGIN)) == [("load", 100, 900)]


def test_an_end_without_a_begin_is_nothing() -> None:
    assert happened((200, LOAD, END)) == []


def test_a_warp_without_an_end_ends_with_its_last_event() -> None:
    seen = warp((200, LOAD, BEGIN), (600, MARK, INSTANT), end=None)
    assert (seen.end, seen.ended) == (500, False)


def test_what_found_no_room_is_lost() -> None:
    assert warp((200, MARK, INSTANT), tried=8).lost == 7


def test_a_begin_whose_end_found_no_room_is_left_out() -> None:
    events = (200, MARK, BEGIN), (300, MARK, END), (400, LOAD, BEGIN)
    assert happened(*events, tried=4) == [("mark", 100, 200)]


def test_sms_have_one_time() -> None:
    other = slot(begin=(5_000_300, 77_000_000), end=(5_001_300, 77_001_000), sm=9, block=1)
    kernel = decode({1: Raw(1, [slot(), other])}, NAMES).kernels[0]
    assert [(each.begin, each.end) for each in kernel.warps] == [(0, 900), (200, 1200)]
    assert (kernel.begin, kernel.end, kernel.recorded_blocks) == (0, 1200, 2)


def test_kernels_come_in_the_order_in_which_they_began() -> None:
    late = slot(begin=(5_000_500, 500), kernel=2)
    recording = decode({2: Raw(1, [late]), 1: Raw(1, [slot()])}, NAMES)
    assert [kernel.name for kernel in recording.kernels] == ["k", "m"]


def test_launches_with_numbers_are_kernels_of_their_own() -> None:
    late = [slot(begin=(5_000_500, 500), launch=41, block=block, blocks=3) for block in range(3)]
    kernels = decode({1: Raw(2, [*late, slot(launch=40)])}, NAMES).kernels
    assert [(kernel.launch, kernel.launches, kernel.blocks) for kernel in kernels] == [
        (1, 2, 1),
        (2, 2, 3),
    ]


def test_of_launches_that_took_each_other_s_room_the_last_is_left() -> None:
    late = slot(begin=(5_000_500, 500), blocks=2)
    earlier = slot(block=1, blocks=9), slot(block=1, groups=4), slot(block=1, launch=3)
    (kernel,) = decode({1: Raw(4, [late, *earlier])}, NAMES).kernels
    assert (kernel.launch, kernel.launches, [warp.block for warp in kernel.warps]) == (0, 4, [0])


def packed(capacity: int, *rows: tuple[tuple[int, ...], list[tuple[int, int, int]]]) -> bytes:
    memory = b""
    for facts, events in rows:
        room = b"".join(struct.pack("<QII", *event) for event in events)
        memory += struct.pack("<QQQQIHHIIQQQQQQ", *facts) + room.ljust(16 * capacity, b"\0")
    return memory


def test_memory_is_taken_apart() -> None:
    facts = (50, 5, 4097, 1 << 20, 1, 131, 4, 2, 3, 77, 0, 90, 9, 1, 1)
    memory = packed(2, (facts, [(7, LOAD, INSTANT)]))
    assert len(memory) == slot_bytes(2)
    assert list(slots(memory, 2)) == [
        Slot((50, 5), (90, 9), 4097, 1 << 20, 1, 131, 2, 3, 4, 77, 1, ((7, LOAD, INSTANT),))
    ]


def test_a_slot_that_nobody_wrote_is_left_out() -> None:
    assert list(slots(packed(2, ((0,) * 15, [])), 2)) == []


def test_of_a_warp_that_did_not_end_the_events_written_count() -> None:
    facts = (50, 5, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0)
    (found,) = slots(packed(3, (facts, [(7, LOAD, BEGIN), (8, LOAD, END)])), 3)
    assert (found.end, found.tried, len(found.events)) == (None, 2, 2)


@pytest.mark.parametrize("step", [1, 2, 3, 8, 9, 1000, 65537, 2**31 - 1])
def test_a_step_divides_what_is_divisible_and_nothing_else(step: int) -> None:
    inverse, rotation, limit = division(step)
    for number in (0, 1, step - 1, step, step + 1, 7 * step - 1, 7 * step, 2**32 - 1):
        product = number % 2**32 * inverse % 2**32
        quotient = (product >> rotation | product << (32 - rotation)) % 2**32
        divisible = number % 2**32 % step == 0
        assert (quotient <= limit) == divisible
        assert not divisible or quotient == number % 2**32 // step
