"""Warp and block functions under every schedule."""

from __future__ import annotations

from functools import reduce as fold

import pytest
import torch

WIDTHS = [1, 2, 8, 32]
TYPES = {
    "int": torch.int32,
    "unsigned": torch.uint32,
    "long_long": torch.int64,
    "unsigned_long": torch.uint64,
    "float": torch.float32,
    "double": torch.float64,
    "half": torch.float16,
    "half2": torch.int32,
    "bfloat16": torch.bfloat16,
    "bfloat162": torch.int32,
}


def sources(to: int, width: int) -> list[list[int]]:
    """The lane that each lane's value comes from, for the four kinds of shuffle."""
    lanes = range(32)
    first = [lane // width * width for lane in lanes]
    end = [begin + width for begin in first]
    return [
        [first[lane] + to % width for lane in lanes],
        [lane - to if lane - to >= first[lane] else lane for lane in lanes],
        [lane + to if lane + to < end[lane] else lane for lane in lanes],
        [lane ^ to if lane ^ to < end[lane] else lane for lane in lanes],
    ]


@pytest.mark.parametrize("name", TYPES)
def test_shuffles_of_every_type_bring_the_right_lane(emulate, address, name) -> None:
    run = getattr(emulate("surface_warp.cu"), f"shuffle_{name}")
    bits = torch.randint(-(2**62), 2**62, (32,), generator=torch.Generator().manual_seed(1))
    values = bits.view(torch.uint8).view(32, 8)[:, : TYPES[name].itemsize].contiguous()
    for width in WIDTHS:
        for to in (0, 1, 5, 16, 31):
            out = torch.zeros(4, 32, values.shape[1], dtype=torch.uint8)
            assert run(address(values), address(out), to, width) == 0
            for kind, lanes in enumerate(sources(to, width)):
                assert torch.equal(out[kind], values[lanes]), (width, to, kind)


def lanes_of(mask: int) -> list[int]:
    return [lane for lane in range(32) if mask >> lane & 1]


def unsigned(values: list[int]) -> list[int]:
    return [value & 0xFFFFFFFF for value in values]


def bits(lanes: list[int]) -> int:
    return sum(1 << lane for lane in lanes)


@pytest.mark.parametrize("mask", [0xFFFFFFFF, 0x0000FFFF, 0x80000001, 0x5A5A5A5A], ids=hex)
@pytest.mark.parametrize("checked", [False, True], ids=["fast", "checked"])
def test_votes_reductions_and_matches_see_the_lanes_of_the_mask(
    emulate, device, schedule, address, mask, checked
) -> None:
    library = emulate("surface_warp.cu", checked=checked)
    device.run_under(schedule)
    values = torch.randint(200, (64,), generator=torch.Generator().manual_seed(1)).int()
    out = torch.zeros(64, 16, dtype=torch.int32)
    assert library.collectives(address(values), address(out), mask) == 0
    for warp in (0, 1):
        lanes = lanes_of(mask)
        of = dict(zip(lanes, (values[warp * 32 + lane].item() for lane in lanes), strict=True))
        all_of = list(of.values())
        for lane in lanes:
            same_low = bits([other for other in lanes if of[other] & 3 == of[lane] & 3])
            same_parity = bits([other for other in lanes if of[other] & 1 == of[lane] & 1])
            expected = [
                bits([other for other in lanes if of[other] & 1]),
                any(value == 3 for value in all_of),
                all(value < 100 for value in all_of),
                1,
                sum(all_of),
                min(all_of) - 10,
                max(all_of),
                fold(int.__and__, all_of) | 4,
                fold(int.__or__, all_of),
                fold(int.__xor__, all_of),
                same_low,
                mask,
                1,
                same_parity,
                mask,
            ]
            got = out[warp * 32 + lane, :15].tolist()
            assert unsigned(got) == unsigned(expected)
    assert device.take_reports() == []


@pytest.mark.parametrize("threads", [32, 96, 100])
def test_a_barrier_can_count_and_vote(emulate, device, schedule, address, threads) -> None:
    library = emulate("surface_warp.cu")
    device.run_under(schedule)
    values = torch.arange(threads, dtype=torch.int32)
    out = torch.zeros(threads, 3, dtype=torch.int32)
    assert library.block_votes(address(values), address(out), threads) == 0
    assert out[:, 0].unique().tolist() == [threads // 2]
    assert out[:, 1].bool().unique().tolist() == [threads <= 100]
    assert out[:, 2].bool().unique().tolist() == [True]


def test_the_lanes_of_a_branch_count_themselves_with_one_atomic(
    emulate, device, schedule, address
) -> None:
    library = emulate("surface_warp.cu")
    device.run_under(schedule)
    values = torch.randint(9, (256,), generator=torch.Generator().manual_seed(2)).int()
    count, out = torch.zeros(1, dtype=torch.int32), torch.zeros(256, dtype=torch.int32)
    assert library.aggregated(address(values), address(count), address(out), 256) == 0
    odd = values.bitwise_and(1).nonzero().flatten().tolist()
    assert count.item() == len(odd)
    assert sorted(out[: len(odd)].tolist()) == odd
