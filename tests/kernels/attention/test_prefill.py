"""What the traces of prefill cannot say: every variant, ragged and in pages, at any lengths."""

from __future__ import annotations

from random import Random

import pytest
import torch

from fictl.kernels.attention.prefill.op import (
    BatchPrefillWithPagedKVCacheWrapper,
    BatchPrefillWithRaggedKVCacheWrapper,
)
from fictl.ops import segment_packbits

from .draws import E4M3, E5M2, HALF, Call, Variant, draw
from .reference import Batch, Shape, Sums, assert_attends, workspace

# The first of each is what CI compiles; each of the others is a minute of nvcc.
PAGED = (
    Variant("bf16-64", Shape(64)),
    Variant("bf16-128", Shape(128), rows=128),
    Variant("f16-128-e4m3", Shape(128, dtype=HALF, kv_dtype=E4M3), rows=64),
    Variant("bf16-64-e5m2", Shape(64, kv_dtype=E5M2), rows=128),
    Variant("bf16-128-rope", Shape(128), rows=64, rope=True),
    Variant("f16-64-alibi", Shape(64, dtype=HALF), rows=128, alibi=True),
)
RAGGED = (
    Variant("bf16-64", Shape(64), rows=64),
    Variant("f16-128", Shape(128, dtype=HALF), rows=128),
    Variant("bf16-256", Shape(256), rows=64),
    Variant("bf16-128-cap", Shape(128), rows=128, soft_cap=True),
    Variant("bf16-128-mask", Shape(128), rows=128, mask=True),
    Variant("f16-256-mask-cap", Shape(256, dtype=HALF), rows=16, mask=True, soft_cap=True),
)
TIMES = 12


def _variants(variants: tuple[Variant, ...]) -> list[object]:
    first, *others = variants
    gpu = pytest.mark.needs_gpu
    return [first, *(pytest.param(each, marks=gpu, id=str(each)) for each in others)]


@pytest.fixture
def random(request: pytest.FixtureRequest) -> Random:
    """Another one in every run; --fictl-seed repeats it."""
    return Random(f"{request.config.option.fictl_seed} {request.node.name}")


def _paged(call: Call) -> Sums:
    batch, shape = call.batch, call.batch.shape
    made = BatchPrefillWithPagedKVCacheWrapper(workspace(batch.device), shape.layout)
    made.plan(
        batch.qo_indptr,
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


def _ragged(call: Call) -> Sums:
    batch, shape = call.batch, call.batch.shape
    made = BatchPrefillWithRaggedKVCacheWrapper(workspace(batch.device), shape.layout)
    made.plan(
        batch.qo_indptr,
        batch.kv_indptr,
        shape.heads,
        shape.kv_heads,
        shape.dim,
        q_data_type=shape.dtype,
        kv_data_type=shape.kv_dtype,
        **call.plan,
    )
    found: Sums = made.run(batch.q, *batch.ragged(), return_lse=True, **call.results())
    return found


@pytest.mark.parametrize("variant", _variants(PAGED), ids=str)
def test_any_batch_in_pages(variant: Variant, random: Random, device: str) -> None:
    for _ in range(TIMES if device == "cuda" else 3):
        call = draw(variant, random, device, paged=True, decode=False)
        assert_attends(_paged(call), call.expected(), call, rope=variant.rope)


@pytest.mark.parametrize("variant", _variants(RAGGED), ids=str)
def test_any_batch_behind_one_another(variant: Variant, random: Random, device: str) -> None:
    for _ in range(TIMES if device == "cuda" else 3):
        call = draw(variant, random, device, paged=False, decode=False)
        assert_attends(_ragged(call), call.expected(), call)


@pytest.mark.needs_gpu
def test_a_mask_may_be_packed(device: str) -> None:
    batch = Batch([40, 3, 0, 70], [41, 9, 5, 70], Shape(128, 8, 2), device)
    sizes = zip(batch.q_lens, batch.kv_lens, strict=True)
    masks = [torch.rand(q, kv, device=device) < 0.5 for q, kv in sizes]
    ends = torch.tensor([0, *(m.numel() for m in masks)], device=device).cumsum(0).int()
    packed, _ = segment_packbits(torch.cat([m.flatten() for m in masks]), ends, "little")
    call = Call(batch, {"packed_custom_mask": packed}, expects={"masks": masks})
    assert_attends(_ragged(call), call.expected(), call)


@pytest.mark.needs_gpu
def test_long_keys_are_split_and_merged(device: str) -> None:
    """Fewer tiles than the GPU has room for; a window leaves the first keys out."""
    for window in (-1, 5000):
        batch = Batch([3, 40], [20000, 9000], Shape(128, 8, 2, page_size=16), device)
        options = {"causal": True, "window_left": window}
        call = Call(batch, options, {}, options)
        assert_attends(_paged(call), call.expected(), call)


@pytest.mark.parametrize("kv_len", [0, 1])
def test_rows_without_keys_are_zero(kv_len: int, device: str) -> None:
    batch = Batch([5, 0], [kv_len, 3], Shape(64), device)
    out, lse = _paged(Call(batch, {"causal": True}))
    assert not bool(out[: 5 - kv_len].any())
    assert bool((lse[: 5 - kv_len] == -torch.inf).all())


def test_sinks_of_other_heads_are_refused(device: str) -> None:
    """Four heads would read beyond the end of three."""
    run = {"sinks": torch.ones(3, device=device)}
    call = Call(Batch([5, 3], [9, 3], Shape(64), device), run=run)
    with pytest.raises(ValueError, match=r"'sinks' has shape \(3,\); there are 4 heads"):
        _paged(call)


def test_a_result_whose_rows_are_one_is_refused(device: str) -> None:
    batch = Batch([5, 3], [9, 3], Shape(64), device, seed=1)
    out = torch.zeros(1, 4, 64, dtype=batch.q.dtype, device=device).expand(8, 4, 64)
    with pytest.raises(ValueError, match=r"strides \(0, 64, 1\): its rows overlap"):
        _paged(Call(batch, run={"out": out}))


def test_scores_of_any_size_overflow_nothing(device: str) -> None:
    batch = Batch([5], [20], Shape(64), device)
    call = Call(batch, {"causal": True, "sm_scale": 1e6}, {}, {"causal": True, "sm_scale": 1e6})
    out, lse = _paged(call)
    assert_attends(out, call.expected(), call)
    assert bool(lse.isfinite().all())


@pytest.mark.needs_gpu
def test_plans_are_read_from_either_side(device: str) -> None:
    batch = Batch([4, 9], [30, 17], Shape(64), device)
    shape = batch.shape
    made = BatchPrefillWithPagedKVCacheWrapper(workspace(device))
    table = [x.to(device) for x in (batch.qo_indptr, *batch.page_table())]
    made.plan(
        *table,
        shape.heads,
        shape.kv_heads,
        shape.dim,
        shape.page_size,
        causal=True,
        q_data_type=shape.dtype,
    )
    assert_attends(made.run(batch.q, batch.cache()), batch.expected(causal=True))
