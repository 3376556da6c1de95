"""Keys that bulk copies cannot bring to Hopper's kernels: pages of any size, and of 8 bits."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch

from fictl.kernels.attention.prefill.op import (
    BatchPrefillWithPagedKVCacheWrapper,
    BatchPrefillWithRaggedKVCacheWrapper,
)

from .reference import Batch, Shape, Sums, assert_attends, lengths, workspace

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
HALF, BF16 = torch.float16, torch.bfloat16
GPU = pytest.mark.needs_gpu


@pytest.fixture
def random(request: pytest.FixtureRequest, device: str) -> Random:
    """Another one in every run; --fictl-seed repeats it."""
    if device == "cuda" and torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("Hopper's kernels run there and on the emulated device")
    return Random(f"{request.config.option.fictl_seed} {request.node.name}")


def drawn(shape: Shape, random: Random, device: str) -> Batch:
    """Any lengths: stages that are whole, and some that are not."""
    queries = [random.randint(0, 150) for _ in range(3)]
    keys = [q + extra for q, extra in zip(queries, lengths(random, 3, 260), strict=True)]
    return Batch(queries, keys, shape, device, random.getrandbits(30))


def attend(batch: Batch, cache: torch.Tensor, **options: Any) -> Sums:
    shape = batch.shape
    made = BatchPrefillWithPagedKVCacheWrapper(workspace(batch.device), shape.layout, backend="fa3")
    table = batch.page_table()
    sizes = (shape.heads, shape.kv_heads, shape.dim, shape.page_size)
    types = {"q_data_type": shape.dtype, "kv_data_type": cache.dtype}
    made.plan(batch.qo_indptr, *table, *sizes, **types, **options)
    found: Sums = made.run(batch.q, cache, return_lse=True)
    return found


@pytest.mark.parametrize("dim", [64, pytest.param(128, marks=GPU)])
@pytest.mark.parametrize(("page_size", "layout"), [(1, "HND"), (5, "NHD")])
def test_pages_of_any_size(
    dim: int, page_size: int, layout: str, random: Random, device: str
) -> None:
    """Pages of one key are what block-sparse lists are made of."""
    shape = Shape(dim, 6, 2, page_size=page_size, layout=layout)
    batch = drawn(shape, random, device)
    options = {"causal": random.random() < 0.5, "window_left": random.choice((-1, 40, 200))}
    assert_attends(attend(batch, batch.cache(), **options), batch.expected(**options), batch)


@pytest.mark.parametrize("layout", ["NHD", "HND"])
def test_heads_that_are_not_whole_panels_apart(layout: str, random: Random, device: str) -> None:
    """A box has all dims of 16 slots there, or 8 slots of 64 dims: results are the same."""
    shape = Shape(64, 4, 2, page_size=16, layout=layout)
    batch = drawn(shape, random, device)
    cache = batch.cache()
    apart = torch.empty((*cache.shape[:-1], 72), dtype=cache.dtype, device=cache.device)[..., :64]
    apart.copy_(cache)
    found = attend(batch, apart, causal=True)
    assert_attends(found, batch.expected(causal=True), batch)
    for part, expected in zip(found, attend(batch, cache, causal=True), strict=True):
        assert torch.equal(part, expected)


@pytest.mark.parametrize(
    ("dim", "dtype", "narrow"),
    [
        (64, BF16, E4M3),
        pytest.param(64, HALF, E5M2, marks=GPU),
        pytest.param(128, BF16, E5M2, marks=GPU),
        pytest.param(128, HALF, E4M3, marks=GPU),
    ],
)
def test_keys_of_8_bits_are_as_good_as_the_same_of_16(
    dim: int, dtype: torch.dtype, narrow: torch.dtype, random: Random, device: str
) -> None:
    """Conversions round nothing: the bits of a cache that was converted before."""
    shape = Shape(dim, 4, 2, dtype=dtype, kv_dtype=narrow, page_size=random.choice((1, 3, 7)))
    batch = drawn(shape, random, device)
    cache = batch.cache()
    found = attend(batch, cache, causal=True)
    assert_attends(found, batch.expected(causal=True), batch)
    for part, expected in zip(found, attend(batch, cache.to(dtype), causal=True), strict=True):
        assert torch.equal(part, expected)


@GPU
def test_ragged_keys_of_8_bits(random: Random, device: str) -> None:
    shape = Shape(128, 8, 2, kv_dtype=E4M3)
    batch = drawn(shape, random, device)
    made = BatchPrefillWithRaggedKVCacheWrapper(workspace(device), backend="fa3")
    types = {"q_data_type": BF16, "kv_data_type": E4M3}
    made.plan(batch.qo_indptr, batch.kv_indptr, 8, 2, 128, causal=True, **types)
    found = made.run(batch.q, *batch.ragged(), return_lse=True, v_scale=0.5)
    assert isinstance(found, tuple)
    out, lse = batch.expected(causal=True)
    assert_attends(found, (out * 0.5, lse), batch)
