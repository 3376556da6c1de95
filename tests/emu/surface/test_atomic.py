"""Atomics of every type, and threads that wait for each other with them."""

from __future__ import annotations

import pytest
import torch

BLOCKS, THREADS = 3, 64
COUNT = BLOCKS * THREADS
SUM = COUNT * (COUNT + 1) // 2

STARTS = {14: (torch.int32, -1), 18: (torch.int32, 5)}


def exclusive_or() -> int:
    result = 0
    for value in range(1, COUNT + 1):
        result ^= value
    return result


def decremented() -> int:
    value = 5
    for _ in range(COUNT):
        value = 9 if value == 0 or value > 9 else value - 1
    return value


EXPECTED = [
    (0, torch.int32, [SUM]),
    (1, torch.int32, [SUM]),
    (2, torch.int64, [SUM << 32]),
    (3, torch.float32, [float(SUM)]),
    (4, torch.float64, [float(SUM)]),
    (5, torch.float16, [COUNT / 4]),
    (6, torch.float16, [COUNT / 4, -COUNT / 2]),
    (7, torch.bfloat16, [COUNT / 2]),
    (8, torch.bfloat16, [COUNT / 2, -COUNT / 4]),
    (9, torch.int32, [-SUM]),
    (10, torch.int32, [-COUNT]),
    (11, torch.int32, [COUNT]),
    (12, torch.int64, [-COUNT << 33]),
    (13, torch.int64, [COUNT << 33]),
    (14, torch.int32, [0]),
    (15, torch.int32, [0xFFFF]),
    (16, torch.int64, [exclusive_or()]),
    (17, torch.int32, [COUNT % 10]),
    (18, torch.int32, [decremented()]),
    (19, torch.int32, [SUM]),
    (20, torch.float32, [float(SUM)]),
    (21, torch.int16, [COUNT]),
    (22, torch.int64, [SUM]),
    (23, torch.int32, [SUM]),
    (24, torch.int32, [COUNT]),
    (25, torch.float32, [float(SUM), float(-SUM)]),
    (26, torch.float32, [float(COUNT * k) for k in (1, 2, 3, 4)]),
]


def aligned(cells: int) -> torch.Tensor:
    """Zeroed rows of 16 bytes, each at a multiple of 16."""
    return torch.zeros(cells, 4, dtype=torch.int32)


@pytest.mark.parametrize("checked", [False, True], ids=["fast", "checked"])
def test_atomics_of_every_type_lose_nothing(emulate, device, schedule, address, checked) -> None:
    library = emulate("surface_atomic.cu", checked=checked)
    device.run_under(schedule)
    cells = aligned(27)
    for cell, (dtype, start) in STARTS.items():
        cells[cell].view(dtype)[0] = start
    assert library.atomics(address(cells), BLOCKS, THREADS) == 0
    for cell, dtype, values in EXPECTED:
        assert cells[cell].view(dtype)[: len(values)].tolist() == values, cell
    assert device.take_reports() == []


def test_sixteen_bytes_are_exchanged_at_once(emulate, device, schedule, address) -> None:
    library = emulate("surface_atomic.cu")
    device.run_under(schedule)
    pair = torch.zeros(2, dtype=torch.int64)
    assert library.wide(address(pair), BLOCKS, THREADS) == 0
    assert pair.tolist() == [COUNT, -COUNT]


CAS, OR, ATOMIC_LOAD, VOLATILE, FETCH_AGAIN, STANDARD, SLEEP = range(7)


@pytest.mark.parametrize("how", range(7))
def test_a_thread_that_waits_lets_the_others_run(emulate, device, schedule, address, how) -> None:
    library = emulate("surface_atomic.cu")
    device.run_under(schedule)
    flag, out = torch.zeros(1, dtype=torch.int32), torch.zeros(2, dtype=torch.int32)
    # A loop that only reads is interrupted, which takes time for each of its threads.
    threads = 4 if how == VOLATILE else 40
    assert library.wait(address(flag), address(out), how, 2, threads) == 0
    assert out.tolist() == [42, 42 * (2 * threads - 1)]
    assert device.take_reports() == []


def test_a_lock_admits_one_thread_at_a_time(emulate, device, schedule, address) -> None:
    library = emulate("surface_atomic.cu")
    device.run_under(schedule)
    lock, counter = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    assert library.lock(address(lock), address(counter), BLOCKS, THREADS) == 0
    assert (lock.item(), counter.item()) == (0, COUNT)


@pytest.mark.parametrize("checked", [False, True], ids=["fast", "checked"])
def test_the_last_block_sees_what_the_others_left(
    emulate, device, schedule, address, checked
) -> None:
    library = emulate("surface_atomic.cu", checked=checked)
    device.run_under(schedule)
    x = torch.arange(COUNT, dtype=torch.float32)
    partial, count = torch.zeros(BLOCKS), torch.zeros(1, dtype=torch.int32)
    total = torch.zeros(1)
    tensors = map(address, (x, partial, count, total))
    assert library.last_block(*tensors, BLOCKS, THREADS) == 0
    assert (total.item(), count.item()) == (x.sum().item(), 0)
    assert device.take_reports() == []
