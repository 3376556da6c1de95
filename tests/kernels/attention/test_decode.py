"""What the traces of decoding cannot say: every variant, at any lengths, groups and pages."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
import torch

from fictl.kernels.attention.decode.op import (
    BatchDecodeWithPagedKVCacheWrapper,
    CUDAGraphBatchDecodeWithPagedKVCacheWrapper,
)

from .draws import BF16, E4M3, E5M2, HALF, Call, Variant, draw
from .reference import Batch, Shape, Sums, assert_attends, workspace

# The first is what CI compiles; each of the others is a minute of nvcc.
VARIANTS = (
    Variant("bf16-64", Shape(64), group=2),
    Variant("bf16-128", Shape(128), group=1),
    Variant("f16-256", Shape(256, dtype=HALF), group=3),
    Variant("f16-128-e4m3", Shape(128, dtype=HALF, kv_dtype=E4M3), group=1),
    Variant("bf16-64-e5m2-cap", Shape(64, dtype=BF16, kv_dtype=E5M2), group=2, soft_cap=True),
    Variant("bf16-128-rope", Shape(128), group=1, rope=True),
    Variant("f16-128-alibi", Shape(128, dtype=HALF), group=3, alibi=True),
)
TIMES = 12


@pytest.fixture
def random(request: pytest.FixtureRequest) -> Random:
    """Another one in every run; --fictl-seed repeats it."""
    return Random(f"{request.config.option.fictl_seed} {request.node.name}")


def _run(call: Call, *, tensor_cores: bool = True) -> Sums:
    """Only "fa2" takes CUDA cores, and for groups of up to three."""
    batch, shape = call.batch, call.batch.shape
    made = BatchDecodeWithPagedKVCacheWrapper(
        workspace(batch.device), shape.layout, backend="auto" if tensor_cores else "fa2"
    )
    made.plan(
        *batch.page_table(),
        shape.heads,
        shape.kv_heads,
        shape.dim,
        shape.page_size,
        q_data_type=shape.dtype,
        kv_data_type=shape.kv_dtype,
        **call.plan,
    )
    found: Sums = made.run(batch.q, call.cache(), return_lse=True, **call.results(), **call.run)
    return found


@pytest.mark.parametrize(
    ("variant", "tensor_cores"),
    [
        pytest.param(
            each,
            cores,
            id=f"{each}-{'tensor' if cores else 'cuda'}",
            marks=[] if each is VARIANTS[0] and not cores else pytest.mark.needs_gpu,
        )
        for each in VARIANTS
        for cores in (False, True)
    ],
)
def test_any_batch(variant: Variant, tensor_cores: bool, random: Random, device: str) -> None:
    if tensor_cores:
        variant = replace(variant, group=0)
    for _ in range(TIMES if device == "cuda" else 3):
        call = draw(variant, random, device, paged=True, decode=True)
        found = _run(call, tensor_cores=tensor_cores)
        assert_attends(found, call.expected(), call, rope=variant.rope)


@pytest.mark.needs_gpu
def test_long_keys_are_split_and_merged(device: str) -> None:
    for heads, window in ((2, -1), (16, -1), (16, 5000)):
        batch = Batch([1, 1], [50000, 9000], Shape(128, heads, 2, page_size=16), device)
        call = Call(batch, {"window_left": window}, {}, {"causal": True, "window_left": window})
        assert_attends(_run(call), call.expected(), call)


def test_a_request_without_keys_is_zero(device: str) -> None:
    batch = Batch([1, 1], [0, 5], Shape(64), device)
    out, lse = _run(Call(batch))
    assert not bool(out[0].any())
    assert bool((lse[0] == -float("inf")).all())


@pytest.mark.parametrize("sinks", [1, 3, 8])
def test_sinks_of_other_heads_are_refused(sinks: int, device: str) -> None:
    """Four heads would read beyond the end of fewer."""
    run = {"sinks": torch.ones(sinks, device=device)}
    call = Call(Batch([1, 1], [0, 5], Shape(64), device), run=run)
    with pytest.raises(ValueError, match=rf"'sinks' has shape \({sinks},\); there are 4 heads"):
        _run(call)


@pytest.mark.parametrize("backend", ["auto", "fa2"])
def test_many_rows_of_a_request_are_taken_by_kernels_of_prefill(backend: str, device: str) -> None:
    q_len, shape = 9, Shape(64, 8, 1, page_size=16)
    batch = Batch([q_len] * 2, [40, 150], shape, device)
    made = BatchDecodeWithPagedKVCacheWrapper(workspace(device), backend=backend)
    made.plan(
        *batch.page_table(),
        shape.heads,
        shape.kv_heads,
        shape.dim,
        shape.page_size,
        q_data_type=shape.dtype,
        q_len_per_req=q_len,
    )
    found: Sums = made.run(batch.q, batch.cache(), return_lse=True)
    assert_attends(found, batch.expected(causal=True), backend)


def test_lists_of_one_place_serve_any_lengths(device: str) -> None:
    shape, cache_pages = Shape(64, 4, 2, page_size=16), 400

    def ints(count: int) -> torch.Tensor:
        return torch.zeros(count, dtype=torch.int32, device=device)

    made = CUDAGraphBatchDecodeWithPagedKVCacheWrapper(
        workspace(device), ints(4), ints(cache_pages), ints(3)
    )
    blocks = set()
    for seed, kv_lens in enumerate(([1500, 30, 0], [1, 1, 1], [0, 900, 2000])):
        batch = Batch([1] * 3, kv_lens, shape, device, seed)
        made.plan(
            *batch.page_table(),
            shape.heads,
            shape.kv_heads,
            shape.dim,
            shape.page_size,
            q_data_type=shape.dtype,
        )
        counts = made._attention.counts
        blocks.add((counts.items, counts.merges))
        first = made.run(batch.q, batch.cache(), return_lse=True)
        assert_attends(first, batch.expected(causal=True), kv_lens)
        for one, again in zip(
            first, made.run(batch.q, batch.cache(), return_lse=True), strict=True
        ):
            assert torch.equal(one, again)
    assert len(blocks) == 1


def test_graphs_do_not_follow_plans_that_split_otherwise(device: str) -> None:
    made = CUDAGraphBatchDecodeWithPagedKVCacheWrapper(
        workspace(device), *(torch.zeros(n, dtype=torch.int32, device=device) for n in (2, 9, 1))
    )
    table = (torch.tensor([0, 2]).int(), torch.tensor([0, 1]).int(), torch.tensor([3]).int())
    made.plan(*table, 2, 1, 64, 16)
    with pytest.raises(ValueError, match="whether keys may be split is False"):
        made.plan(*table, 2, 1, 64, 16, disable_split_kv=True)


@pytest.mark.parametrize("layout", ["NHD", "HND"])
def test_a_cache_that_stacks_keys_and_values_is_as_a_pair(layout: str, device: str) -> None:
    """The binding takes it apart, wherever its pages lie; another shape is refused as always."""
    shape = Shape(64, 4, 2, BF16, layout=layout, page_size=5)
    batch = Batch((1, 1), (20, 37), shape, device)
    wrapper = BatchDecodeWithPagedKVCacheWrapper(workspace(device), layout, backend="fa2")
    sizes = (shape.heads, shape.kv_heads, shape.dim, shape.page_size)
    wrapper.plan(*batch.page_table(), *sizes, q_data_type=BF16)
    pair = batch.caches()
    stacked = torch.stack(pair, 1)
    apart = torch.full((2 * len(stacked), *stacked.shape[1:]), torch.nan, dtype=BF16, device=device)
    of_other_strides = stacked.transpose(2, 3).contiguous().transpose(2, 3)
    apart[::2] = stacked
    expected = wrapper.run(batch.q, pair)
    for cache in (stacked, apart[::2], of_other_strides):
        assert torch.equal(wrapper.run(batch.q, cache), expected)
    for wrong in (stacked[:, :1], stacked[..., :32], torch.cat([stacked, stacked], 1)):
        with pytest.raises(ValueError, match="argument 'paged_kv_cache' has shape"):
            wrapper.run(batch.q, wrong)
