"""Decoding of few requests as one call: a cluster of blocks has a head of a request."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch

from fictl.testing import assert_close

from .reference import Batch, Shape, assert_attends
from .tables import counters_are_zero, decode, memory
from .test_planned_decode import WITH_8_BITS

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
on_gpu = pytest.mark.needs_gpu  # each more is a compile of some seconds


def _batch(kv_lens: list[int], device: str, *, q_len: int = 1, **options: Any) -> Batch:
    given = {"dim": 64, "heads": 4, "kv_heads": 2, "page_size": 16, "layout": "HND", **options}
    shape = Shape(given.pop("dim"), given.pop("heads"), given.pop("kv_heads"), **given)
    return Batch([q_len] * len(kv_lens), kv_lens, shape, device)


def _decode(batch: Batch, **options: Any) -> Any:
    workspace = memory(batch.device)
    found = decode(batch, workspace, **{"return_lse": True, **options})
    assert counters_are_zero(workspace)
    return found


# A part has at least a tile for each warp: 64 keys of 64 dims and 16 bits, or 128.
@pytest.mark.parametrize("length", [0, 1, 64, 127, 129, 385, 1000])
def test_parts_of_a_lone_request(length: int, device: str) -> None:
    batch = _batch([length], device)
    assert_attends(_decode(batch), batch.expected(causal=True))


@pytest.mark.parametrize("heads", [2, 6, 16])
def test_rows_that_blocks_do_not_divide(heads: int, device: str) -> None:
    batch = _batch([700], device, q_len=2, heads=heads)
    sinks = torch.randn(heads, device=device)
    found = _decode(batch, window_left=400, sinks=sinks)
    assert_attends(found, batch.expected(causal=True, window_left=400, sinks=sinks))


@pytest.mark.parametrize("kv_lens", [[300, 0], [900, 1], [130, 131, 1, 0]])
def test_requests_of_other_lengths(kv_lens: list[int], device: str) -> None:
    """Lengths for which clusters are as good as sharing out, and others."""
    batch = _batch(kv_lens, device)
    assert_attends(_decode(batch), batch.expected(causal=True))


def test_requests_without_queries(device: str) -> None:
    batch = Batch([1, 0], [500, 400], Shape(64, 4, 2, page_size=16, layout="HND"), device)
    assert_attends(_decode(batch), batch.expected(causal=True))


def test_the_same_bits_again(device: str) -> None:
    batch = _batch([1000], device)
    first, again = _decode(batch), _decode(batch)
    assert all(torch.equal(x, y) for x, y in zip(first, again, strict=True))


@on_gpu
@pytest.mark.parametrize("kv_dtype", [torch.bfloat16, E4M3, E5M2])
@pytest.mark.parametrize("dim", [64, 128, 256])
def test_any_lengths(kv_dtype: torch.dtype, dim: int, device: str) -> None:
    chance = Random(dim)
    for turn in range(12):
        requests = chance.choice((1, 1, 1, 2, 3, 8, 32))
        longest = chance.choice((100, 2000, 40_000 // requests))
        kv_lens = [chance.randint(longest // 2 * (turn % 2), longest) for _ in range(requests)]
        shape = {"dim": dim, "heads": 32, "kv_heads": chance.choice((1, 4, 8))}
        batch = _batch(kv_lens, device, kv_dtype=kv_dtype, **shape)
        wanted, sums = batch.expected(causal=True)
        found, lse = _decode(batch)
        assert_close(found, wanted, tolerances=WITH_8_BITS)
        assert_close(lse, sums, tolerances=WITH_8_BITS)


@on_gpu
@pytest.mark.parametrize("kv_dtype", [E4M3, E5M2])
@pytest.mark.parametrize("part", ["keys", "values"])
def test_a_nan_of_8_bits_in_use(part: str, kv_dtype: torch.dtype, device: str) -> None:
    """It makes one head NaN, and one behind the last key none."""
    batch = _batch([300], device, dim=128, kv_dtype=kv_dtype)
    cache = batch.cache().clone()
    pages = batch.page_table()[1]
    side = ["keys", "values"].index(part)
    cache.view(torch.uint8)[int(pages[17]), side, 1, 5, 3] = 0x7F
    cache.view(torch.uint8)[int(pages[18]), side, 0, 13, 3] = 0x7F
    out, _ = _decode(batch, kv_cache=cache)
    is_nan = out.isnan().view(2, 2, 128)
    assert bool(is_nan[1].any())
    assert not bool(is_nan[0].any())
