"""What only a GPU can show: many SMs, clocks that differ, and very many blocks."""

from __future__ import annotations

import ctypes

import pytest
import torch

from fictl.profile.events.blocks import Blocks
from fictl.profile.events.names import Names, identity
from fictl.profile.events.recorder import Recorder, Room, left, probe_rooms, rooms_for
from fictl.profile.events.recording import Raw, Recording, anchors, decode
from fictl.profile.events.statistics import event_rows

pytestmark = pytest.mark.needs_gpu

SPINS, WORKS = identity("spins"), identity("works")
NAMES = Names({SPINS: "spins", WORKS: "works"}, {identity("spin"): "spin"})


@pytest.fixture
def recorder(gpu_library: ctypes.CDLL) -> Recorder:
    return Recorder("cuda", [gpu_library])


def spins(recorder: Recorder, library: ctypes.CDLL, blocks: int, ns: int) -> Recording:
    rooms = {SPINS: Room(0, 1, blocks)}
    first, second = (
        left(recorder.record(lambda: library.spins(blocks, ns), rooms, 4), 4)[SPINS]
        for _ in range(2)
    )
    return decode({SPINS: Raw(1, second)}, NAMES, [*anchors(first)])


def test_a_duration_is_what_the_kernel_measures_itself(recorder, gpu_library) -> None:
    (kernel,) = spins(recorder, gpu_library, 2, 50_000).kernels
    lengths = sorted(each.length for warp in kernel.warps for each in warp.happened)
    # The common clock, by which it spins, may be late by a tick of a microsecond.
    assert lengths == [pytest.approx(50_000, abs=1200), pytest.approx(100_000, abs=1200)]


def test_blocks_of_one_wave_run_on_all_sms_at_one_time(recorder, gpu_library) -> None:
    count = torch.cuda.get_device_properties(0).multi_processor_count
    (kernel,) = spins(recorder, gpu_library, count, 50_000).kernels
    assert len({warp.sm for warp in kernel.warps}) == count
    begins = sorted(warp.begin for warp in kernel.warps)
    assert begins[-1] - begins[0] < 10_000
    assert event_rows(kernel)[0].share == pytest.approx(1, abs=0.02)


def test_a_million_blocks_are_told_apart(recorder, gpu_library) -> None:
    blocks = 1_000_003
    out = torch.zeros(32 * blocks, dtype=torch.int32, device="cuda")
    written = recorder.record(
        lambda: gpu_library.works(ctypes.c_void_p(out.data_ptr()), blocks, 32, 0),
        {WORKS: Room(3, 1000, 2000)},
        8,
    )
    slots = left(written, 8)[WORKS]
    assert [slot.block for slot in slots] == list(range(3, blocks, 1000))
    assert {slot.blocks for slot in slots} == {blocks}
    assert {slot.tried for slot in slots} == {5}


def test_launches_of_a_call_are_told_apart(recorder, gpu_library) -> None:
    def call() -> None:
        for blocks in (7, 3, 5):
            gpu_library.spins(blocks, 1000)

    rooms, capacity = probe_rooms([SPINS])
    first = recorder.record(call, rooms, capacity)
    probed = left(first, capacity)
    rooms, capacity = rooms_for(probed, {SPINS: first[0].launches}, Blocks(), 0)
    second = left(recorder.record(call, rooms, capacity), capacity)[SPINS]
    kernels = decode({SPINS: Raw(3, second)}, NAMES).kernels
    assert [(kernel.launch, len(kernel.warps)) for kernel in kernels] == [(1, 7), (2, 3), (3, 5)]
