"""A captured run follows the plans that come after it, whatever the lengths."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import pytest
import torch

from fictl.kernels.attention._fast_decode_plan import fast_decode_plan
from fictl.kernels.attention.decode.op import (
    BatchDecodeWithPagedKVCacheWrapper,
    CUDAGraphBatchDecodeWithPagedKVCacheWrapper,
)
from fictl.kernels.attention.prefill.op import (
    BatchPrefillWithPagedKVCacheWrapper,
    BatchPrefillWithRaggedKVCacheWrapper,
)

from .reference import Batch, Shape, assert_attends, lengths, workspace

pytestmark = pytest.mark.needs_gpu
REQUESTS, QUERIES, PAGES = 5, 600, 2000


@pytest.fixture
def random(request: pytest.FixtureRequest) -> Random:
    return Random(f"{request.config.option.fictl_seed} {request.node.name}")


def _ints(count: int) -> torch.Tensor:
    return torch.zeros(count, dtype=torch.int32, device="cuda")


def _captured(run: Any) -> torch.cuda.CUDAGraph:
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph


def _shape(group: int) -> Shape:
    return Shape(128, 2 * group, 2, page_size=16)


def _cache(shape: Shape) -> torch.Tensor:
    """Of a fixed place: every batch is copied into it."""
    size = (PAGES, 2, shape.page_size, shape.kv_heads, shape.dim)
    return torch.zeros(size, dtype=shape.dtype, device="cuda")


def _decode_lengths(random: Random) -> list[list[int]]:
    return [[1] * REQUESTS, lengths(random, REQUESTS, 3000), [5000, 0, 1, 64, 17], [0] * REQUESTS]


@pytest.mark.parametrize("group", [1, 8])
@pytest.mark.parametrize("by_subclass", [False, True])
def test_decoding(group: int, by_subclass: bool, random: Random) -> None:
    shape = _shape(group)
    buffers = (_ints(REQUESTS + 1), _ints(PAGES), _ints(REQUESTS))
    tensor_cores = group > 1
    if by_subclass:
        made: Any = CUDAGraphBatchDecodeWithPagedKVCacheWrapper(
            workspace("cuda"), *buffers, "NHD", tensor_cores
        )
    else:
        made = BatchDecodeWithPagedKVCacheWrapper(
            workspace("cuda"), "NHD", True, tensor_cores, *buffers
        )
    cache, graph = _cache(shape), None
    q = torch.zeros(REQUESTS, shape.heads, shape.dim, dtype=shape.dtype, device="cuda")
    out, lse = torch.empty_like(q), torch.empty(REQUESTS, shape.heads, device="cuda")
    for seed, kv_lens in enumerate(_decode_lengths(random)):
        batch = Batch([1] * REQUESTS, kv_lens, shape, "cuda", seed)
        q.copy_(batch.q)
        cache[: len(batch.cache())].copy_(batch.cache())
        made.plan(
            *batch.page_table(),
            shape.heads,
            shape.kv_heads,
            shape.dim,
            shape.page_size,
            q_data_type=shape.dtype,
        )
        graph = graph or _captured(lambda: made.run(q, cache, out=out, lse=lse, return_lse=True))
        graph.replay()
        assert_attends((out, lse), batch.expected(causal=True), kv_lens)


def test_decoding_follows_plans_that_copy_nothing(random: Random) -> None:
    """As engines do: their own copies, then fast_decode_plan with lengths on the host."""
    shape = _shape(8)
    buffers = (_ints(REQUESTS + 1), _ints(PAGES), _ints(REQUESTS))
    wrapper: Any = BatchDecodeWithPagedKVCacheWrapper(
        workspace("cuda"), "NHD", True, True, *buffers
    )
    cache, graph = _cache(shape), None
    q = torch.zeros(REQUESTS, shape.heads, shape.dim, dtype=shape.dtype, device="cuda")
    out, lse = torch.empty_like(q), torch.empty(REQUESTS, shape.heads, device="cuda")
    plan: Any = wrapper.plan
    for seed, kv_lens in enumerate(_decode_lengths(random)):
        batch = Batch([1] * REQUESTS, kv_lens, shape, "cuda", seed)
        q.copy_(batch.q)
        cache[: len(batch.cache())].copy_(batch.cache())
        indptr, indices, last = batch.page_table()
        for buffer, value in zip(buffers, (indptr, indices, last), strict=True):
            buffer[: len(value)].copy_(value)
        sizes = (shape.heads, shape.kv_heads, shape.dim, shape.page_size)
        plan(indptr.cpu(), indices, last.cpu(), *sizes, q_data_type=shape.dtype)
        graph = graph or _captured(lambda: wrapper.run(q, cache, out=out, lse=lse, return_lse=True))
        graph.replay()
        assert_attends((out, lse), batch.expected(causal=True), kv_lens)
        plan = partial(fast_decode_plan, wrapper)


def _prefill_lengths(random: Random) -> list[tuple[list[int], list[int]]]:
    any_q, any_kv = lengths(random, REQUESTS, 100), lengths(random, REQUESTS, 1000)
    longer = [max(q, kv) for q, kv in zip(any_q, any_kv, strict=True)]
    return [
        ([120] * REQUESTS, [120] * REQUESTS),
        (any_q, longer),
        ([0] * REQUESTS, [9] * REQUESTS),
        ([QUERIES, 0, 0, 0, 0], [4000, 1, 0, 5, 6]),
        ([1] * REQUESTS, [700] * REQUESTS),
    ]


def test_prefill_in_pages(random: Random) -> None:
    shape = _shape(4)
    made = BatchPrefillWithPagedKVCacheWrapper(
        workspace("cuda"),
        "NHD",
        True,
        _ints(REQUESTS + 1),
        _ints(REQUESTS + 1),
        _ints(PAGES),
        _ints(REQUESTS),
    )
    cache, graph = _cache(shape), None
    q = torch.zeros(QUERIES, shape.heads, shape.dim, dtype=shape.dtype, device="cuda")
    out = torch.empty_like(q)
    for seed, (q_lens, kv_lens) in enumerate(_prefill_lengths(random)):
        batch = Batch(q_lens, kv_lens, shape, "cuda", seed)
        count = sum(q_lens)
        q[:count].copy_(batch.q)
        cache[: len(batch.cache())].copy_(batch.cache())
        made.plan(
            batch.qo_indptr,
            *batch.page_table(),
            shape.heads,
            shape.kv_heads,
            shape.dim,
            shape.page_size,
            causal=True,
            q_data_type=shape.dtype,
        )
        graph = graph or _captured(lambda: made.run(q, cache, out=out))
        graph.replay()
        assert_attends(out[:count], batch.expected(causal=True), (q_lens, kv_lens))


def test_prefill_behind_one_another(random: Random) -> None:
    shape, most = _shape(4), 5000
    made = BatchPrefillWithRaggedKVCacheWrapper(
        workspace("cuda"), "NHD", True, _ints(REQUESTS + 1), _ints(REQUESTS + 1)
    )
    graph = None
    q = torch.zeros(QUERIES, shape.heads, shape.dim, dtype=shape.dtype, device="cuda")
    k = torch.zeros(most, shape.kv_heads, shape.dim, dtype=shape.dtype, device="cuda")
    v, out = torch.zeros_like(k), torch.empty_like(q)
    for seed, (q_lens, kv_lens) in enumerate(_prefill_lengths(random)):
        batch = Batch(q_lens, kv_lens, shape, "cuda", seed)
        count = sum(q_lens)
        q[:count].copy_(batch.q)
        for place, rows in zip((k, v), batch.ragged(), strict=True):
            place[: len(rows)].copy_(rows)
        made.plan(
            batch.qo_indptr,
            batch.kv_indptr,
            shape.heads,
            shape.kv_heads,
            shape.dim,
            causal=True,
            q_data_type=shape.dtype,
        )
        graph = graph or _captured(lambda: made.run(q, k, v, out=out))
        graph.replay()
        assert_attends(out[:count], batch.expected(causal=True), (q_lens, kv_lens))
