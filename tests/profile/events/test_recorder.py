"""Kernels that record, run on the emulated device: what is in memory afterwards."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from fictl.errors import SetupError, UsageError
from fictl.profile.events.blocks import Blocks
from fictl.profile.events.layout import BEGIN, END, INSTANT, Slot, slots
from fictl.profile.events.names import identity
from fictl.profile.events.recorder import (
    Recorder,
    Room,
    layers_for,
    left,
    probe_rooms,
    rooms_for,
    write_memory,
)

WORKS, GROUPED = identity("works"), identity("grouped")


@pytest.fixture
def recorder(library: ctypes.CDLL) -> Recorder:
    return Recorder("cpu", [library])


@pytest.fixture
def works(library: ctypes.CDLL) -> Callable[..., None]:
    def call(blocks: int = 3, threads: int = 64, steps: int = 2) -> torch.Tensor:
        out = torch.zeros(blocks * threads, dtype=torch.int32)
        library.works(ctypes.c_void_p(out.data_ptr()), blocks, threads, steps)
        return out

    return call


def record(
    recorder: Recorder, call: Callable[[], object], room: Room, capacity: int = 16, kernel=WORKS
) -> list[Slot]:
    written = recorder.record(call, {kernel: room}, capacity)
    return left(written, capacity).get(kernel, [])


def said(slot: Slot) -> list[tuple[int, int]]:
    return [(name, kind) for _, name, kind in slot.events]


def test_every_warp_leaves_its_events_in_order(recorder, works) -> None:
    slots = record(recorder, works, Room(0, 1, 6))
    assert [(slot.block, slot.group) for slot in slots] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (2, 0),
        (2, 1),
    ]
    started, load, step, halved = map(identity, ("started", "load", "step", "halved"))
    body = [(started, INSTANT), (load, BEGIN), (load, END), *[(step, BEGIN), (step, END)] * 2]
    assert said(slots[0]) == [*body, (halved, BEGIN), (halved, END)]


def test_a_warp_that_returns_early_has_ended(recorder, works) -> None:
    slots = record(recorder, works, Room(0, 1, 6))
    assert [slot.tried for slot in slots] == [9, 9, 7, 7, 9, 9]
    assert all(slot.end is not None for slot in slots)


def test_times_do_not_go_back(recorder, works) -> None:
    for slot in record(recorder, works, Room(0, 1, 6)):
        times = [slot.begin[1], *(time for time, _, _ in slot.events), slot.end[1]]
        assert times == sorted(times)
        assert slot.begin[0] <= slot.end[0]


def test_what_finds_no_room_is_counted_and_not_written(recorder, works) -> None:
    slots = record(recorder, lambda: works(blocks=1, steps=100), Room(0, 1, 2), capacity=4)
    assert [(slot.group, len(slot.events), slot.tried) for slot in slots] == [
        (0, 4, 205),
        (1, 4, 205),
    ]


def test_more_than_4095_blocks_are_told_apart(recorder, works) -> None:
    slots = record(recorder, lambda: works(blocks=5000, threads=32, steps=0), Room(0, 1, 5000))
    assert [slot.block for slot in slots] == list(range(5000))
    assert {slot.blocks for slot in slots} == {5000}


def test_only_the_blocks_chosen_record(recorder, works) -> None:
    slots = record(recorder, lambda: works(blocks=20, threads=64), Room(3, 7, 4))
    assert [(slot.block, slot.group) for slot in slots] == [(3, 0), (3, 1), (10, 0), (10, 1)]


def test_groups_of_warps_record_once_whatever_the_block_s_shape(recorder, library) -> None:
    out = torch.zeros(160, dtype=torch.int32)
    slots = record(
        recorder,
        lambda: library.grouped(ctypes.c_void_p(out.data_ptr())),
        Room(0, 1, 64),
        4,
        GROUPED,
    )
    assert [(slot.block, slot.group) for slot in slots] == [
        (block, group) for block in range(6) for group in range(3)
    ]
    assert {(slot.groups, slot.warps, slot.blocks) for slot in slots} == {(3, 2, 6)}


def test_a_second_launch_is_counted(recorder, works) -> None:
    def twice() -> None:
        works()
        works()

    assert recorder.record(twice, {WORKS: Room(0, 1, 6)}, 16)[0].launches == 2


def test_the_units_of_a_module_record_into_regions_of_their_own(recorder, library, works) -> None:
    rooms = {WORKS: Room(0, 1, 2), identity("other"): Room(0, 1, 2)}

    def both() -> None:
        works(blocks=1)
        library.other(2)

    found = left(recorder.record(both, rooms, 16), 16)
    assert [len(found[number]) for number in rooms] == [2, 2]
    assert said(found[identity("other")][0]) == [(identity("there"), INSTANT)]


def test_nothing_is_recorded_afterwards(recorder, works) -> None:
    with recorder.recording({WORKS: Room(0, 1, 6)}, 16) as lent:
        pass
    works()
    assert not lent.any()


def test_results_are_those_of_a_kernel_that_does_not_record(recorder, works) -> None:
    out = []
    record(recorder, lambda: out.append(works(blocks=1, steps=5)), Room(0, 1, 6))
    assert torch.equal(out[0], works(blocks=1, steps=5))


def test_a_kernel_that_says_nothing_is_not_there(recorder, library) -> None:
    out = torch.zeros(1, dtype=torch.int32)
    assert (
        record(recorder, lambda: library.silent(ctypes.c_void_p(out.data_ptr())), Room(0, 1, 2))
        == []
    )


def test_room_is_made_by_what_the_first_warps_left(recorder, works) -> None:
    rooms, capacity = probe_rooms([WORKS, GROUPED])
    probed = left(recorder.record(lambda: works(blocks=300, steps=20), rooms, capacity), capacity)
    assert rooms_for(probed, {WORKS: 1}, Blocks(), 0) == ({WORKS: Room(0, 1, 600)}, 90)
    assert rooms_for(probed, {WORKS: 1}, Blocks.parse("10:20"), 7) == ({WORKS: Room(10, 1, 20)}, 7)


def test_blocks_beyond_the_grid_are_an_error_that_names_its_size(recorder, works) -> None:
    rooms, capacity = probe_rooms([WORKS])
    probed = left(recorder.record(works, rooms, capacity), capacity)
    with pytest.raises(UsageError) as caught:
        rooms_for(probed, {WORKS: 1}, Blocks.parse("10:20"), 0)
    assert caught.value.hint == "the grid has 3 blocks"


@pytest.mark.parametrize(
    ("numbers", "launched", "layers"),
    [
        ({7}, 1, 1),
        ({7, 8, 9}, 3, 3),
        ({100, 104}, 2, 3),
        ({0, 6, 12}, 3, 5),
        ({0}, 2, 1),  # a driver, or an emulated device, that does not number them
        (set(range(16)), 40, 1),
    ],
)
def test_launches_are_kept_apart_by_their_numbers(numbers, launched, layers) -> None:
    assert layers_for(numbers, launched) == layers


def test_room_is_made_for_the_largest_grid_of_a_kernel(recorder, works) -> None:
    probed = left(recorder.record(lambda: works(blocks=5), {WORKS: Room(0, 1, 10)}, 16), 16)[WORKS]
    small = [replace(slot, blocks=2, launch=8) for slot in probed[:2]]
    large = [replace(slot, blocks=90, launch=9) for slot in probed]
    rooms, _ = rooms_for({WORKS: [*small, *large]}, {WORKS: 2}, Blocks(), 0)
    assert rooms == {WORKS: Room(0, 1, 180, 2)}


def test_too_much_memory_is_refused(recorder, works) -> None:
    with pytest.raises(UsageError, match="100000000 warps with 16 events each take"):
        recorder.record(works, {WORKS: Room(0, 1, 100_000_000)}, 16)


def test_more_kernels_than_there_are_regions_are_refused(recorder, works) -> None:
    rooms = {16 * number: Room(0, 1, 1) for number in range(18)}
    with pytest.raises(SetupError, match="18 kernels of the module record, which are too many"):
        recorder.record(works, rooms, 1)


def test_kernels_whose_ids_ask_for_one_place_record_all_the_same(recorder, works) -> None:
    rooms = {number: Room(0, 1, 3) for number in (WORKS ^ 16, WORKS ^ 32, WORKS)}
    (*others, found) = recorder.record(works, rooms, 16)
    assert [each.launches for each in others] == [0, 0]
    assert (found.kernel, found.launches) == (WORKS, 1)
    assert [slot.group for slot in slots(found.memory, 16)] == [0, 1]


def test_regions_are_written_one_after_the_other(recorder, library, works, tmp_path) -> None:
    written = recorder.record(works, {WORKS: Room(0, 1, 1), GROUPED: Room(0, 1, 2)}, 4)
    path = tmp_path / "memory"
    parts = write_memory(written, path)
    assert [part.kernel for part in parts] == [WORKS, GROUPED]
    assert path.read_bytes() == b"".join(each.memory for each in written)
    assert sum(part.bytes for part in parts) == path.stat().st_size


def test_a_duration_is_as_long_as_it_lasted(recorder, library) -> None:
    spins = identity("spins")
    found = left(recorder.record(lambda: library.spins(1, 200_000), {spins: Room(0, 1, 1)}, 4), 4)
    (slot,) = found[spins]
    assert slot.events[1][0] - slot.events[0][0] >= 200_000
