"""Cooperative groups under every schedule."""

from __future__ import annotations

from itertools import accumulate

import pytest
import torch

THREADS = 96
both = pytest.mark.parametrize("checked", [False, True], ids=["fast", "checked"])


def numbers() -> torch.Tensor:
    return torch.randint(0, 100, (THREADS,), generator=torch.Generator().manual_seed(1)).int()


def seen(values: list[int], rank: int, meta_rank: int, meta_size: int) -> list[int]:
    """What the thread of this rank writes, in a group whose threads have these values."""
    parity = [value & 1 for value in values]
    return [
        len(values),
        rank,
        meta_rank,
        meta_size,
        sum(values),
        min(values),
        max(values),
        list(accumulate(values))[rank],
        sum(values[:rank]),
        3 in values,
        True,
        sum(bit << i for i, bit in enumerate(parity)),
        values[0],
        values[min(rank + 1, len(values) - 1)],
        values[max(rank - 1, 0)],
        sum((bit == parity[rank]) << i for i, bit in enumerate(parity)),
    ]


def written(row: torch.Tensor) -> list[int]:
    *numbers, ballot, first, down, up, match = row.tolist()
    return [*numbers, ballot & 2**32 - 1, first, down, up, match & 2**32 - 1]


@both
@pytest.mark.parametrize("size", [1, 4, 16, 32])
def test_tiles_compute_together(emulate, device, schedule, address, size, checked) -> None:
    library = emulate("surface_groups.cu", checked=checked)
    device.run_under(schedule)
    x, out = numbers(), torch.zeros(THREADS, 16, dtype=torch.int32)
    assert library.tiles(address(x), address(out), size, THREADS) == 0
    values = x.tolist()
    for i in range(THREADS):
        group = values[i // size * size :][:size]
        assert written(out[i]) == seen(group, i % size, i // size, THREADS // size)
    assert device.take_reports() == []


def coalesced(values: list[int], how: int) -> list[tuple[list[int], int, int]]:
    """The groups of one warp: their lanes, and which of how many each is."""
    lanes = range(32)
    if how == 0:
        return [([lane for lane in lanes if values[lane] & 1], 0, 1)]
    if how == 1:
        labels = list(dict.fromkeys(value % 3 for value in values))
        return [
            ([lane for lane in lanes if values[lane] % 3 == label], place, len(labels))
            for place, label in enumerate(labels)
        ]
    high = [lane for lane in lanes if values[lane] > 50]
    return [([lane for lane in lanes if lane not in high], 0, 2), (high, 1, 2)]


@both
@pytest.mark.parametrize("how", [0, 1, 2], ids=["branch", "label", "predicate"])
def test_lanes_that_belong_together_compute_together(
    emulate, device, schedule, address, how, checked
) -> None:
    library = emulate("surface_groups.cu", checked=checked)
    device.run_under(schedule)
    x, out = numbers(), torch.zeros(THREADS, 16, dtype=torch.int32)
    assert library.coalesced(address(x), address(out), how, THREADS) == 0
    for warp in range(THREADS // 32):
        values = x[warp * 32 : warp * 32 + 32].tolist()
        for lanes, place, count in coalesced(values, how):
            group = [values[lane] for lane in lanes]
            for rank, lane in enumerate(lanes):
                assert written(out[warp * 32 + lane]) == seen(group, rank, place, count)
    assert device.take_reports() == []


def test_groups_know_their_ranks_and_shuffle_large_values(
    emulate, device, schedule, address
) -> None:
    library = emulate("surface_groups.cu")
    device.run_under(schedule)
    out = torch.zeros(128, 12, dtype=torch.int32)
    assert library.others(address(out)) == 0
    for i, row in enumerate(out.tolist()):
        rank, block = i % 64, i // 64
        source = rank // 32 * 32 + 7
        expected = [
            64,
            rank,
            block,
            rank // 16,
            128,
            block,
            rank % 32 // 4,
            rank ^ 3,
            source + 3 * source,
            rank % 32 // 4 * 100 + 8,
            800 + rank % 8,
            rank // 4 * 40 + (rank % 4 == 0),
        ]
        assert row == expected


@both
def test_a_grid_waits_for_all_its_blocks(emulate, device, schedule, address, checked) -> None:
    library = emulate("surface_groups.cu", checked=checked)
    device.run_under(schedule)
    blocks, threads = 3, 40
    count = blocks * threads
    cells, out = (torch.zeros(count, dtype=torch.int32) for _ in range(2))
    assert library.whole_grid(address(cells), address(out), blocks, threads) == 0
    assert out.tolist() == [3 * ((i + threads) % count) + 3 for i in range(count)]
    assert device.take_reports() == []


@both
@pytest.mark.parametrize("n", [1024, 1000, 37, 1])
def test_a_group_copies_into_shared_memory(emulate, device, schedule, address, n, checked) -> None:
    library = emulate("surface_groups.cu", checked=checked)
    device.run_under(schedule)
    x = torch.randint(256, (2, 1024), generator=torch.Generator().manual_seed(1)).byte()
    out = torch.zeros(2, 1024, dtype=torch.uint8)
    assert library.copies(address(x), address(out), n) == 0
    assert torch.equal(out[:, :n], x[:, :n])
    assert not out[:, n:].any()
    assert device.take_reports() == []
