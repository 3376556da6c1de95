"""Loads, stores, address spaces and asynchronous copies."""

from __future__ import annotations

import pytest
import torch

TYPES = {
    "char": 1,
    "short": 2,
    "int": 4,
    "float": 4,
    "double": 8,
    "char4": 4,
    "ushort2": 4,
    "int2": 8,
    "uint4": 16,
    "float4": 16,
    "double2": 16,
    "__half": 2,
    "__half2": 4,
    "__nv_bfloat16": 2,
    "__nv_bfloat162": 4,
}
both = pytest.mark.parametrize("checked", [False, True], ids=["fast", "checked"])


@pytest.mark.parametrize("name", TYPES)
def test_every_cache_hint_moves_every_type(emulate, address, name) -> None:
    count, size = 100, TYPES[name]
    values = torch.randint(256, (count, size), generator=torch.Generator().manual_seed(1)).byte()
    out = torch.zeros(6, count, size, dtype=torch.uint8)
    run = getattr(emulate("surface_memory.cu"), f"cached_{name}")
    assert run(address(values), address(out), count) == 0
    assert torch.equal(out, values.expand(6, count, size))


def test_address_spaces_are_told_apart(emulate, address) -> None:
    out = torch.zeros(8, dtype=torch.int32)
    assert emulate("surface_memory.cu").spaces(address(out)) == 0
    assert out.tolist() == [1, 1, 1, 1, 1, 1, 30, 12]


@both
def test_a_pipeline_of_copies_brings_rows_and_zeros(
    emulate, device, schedule, address, checked
) -> None:
    library = emulate("surface_memory.cu", checked=checked)
    device.run_under(schedule)
    rows, n = 5, 4 * 64 + 22
    x = torch.arange(1, n + 1, dtype=torch.int32)
    out = torch.full((rows, 64), -1, dtype=torch.int32)
    assert library.pipelined(address(x), address(out), n, rows) == 0
    padded = torch.cat([x, torch.zeros(rows * 64 - n, dtype=torch.int32)]).view(rows, 64)
    assert torch.equal(out, padded.flip(1))
    assert device.take_reports() == []
