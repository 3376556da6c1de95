"""Attention of many queries on Hopper's kernels: any batch, tiles of every kind, what is refused."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
import torch

from fictl.errors import FictlError
from fictl.jit import define_variant
from fictl.kernels.attention._config import Config
from fictl.kernels.attention.prefill.op import (
    BatchPrefillWithPagedKVCacheWrapper,
    BatchPrefillWithRaggedKVCacheWrapper,
)
from fictl.kernels.attention.single.op import single_prefill_with_kv_cache
from fictl.testing import assert_close

from .draws import BF16, E4M3, HALF, Call, Variant, draw
from .launched import attend, shape_of
from .reference import Batch, Shape, Sums, assert_attends, workspace
from .work_lists import WorkList

# Each is a compile of the emulated device, and a minute of nvcc.
PAGED = (
    Variant("bf16-128", Shape(128), rows=128),
    Variant("bf16-64-mask", Shape(64), rows=128, mask=True),
    Variant("bf16-192-128", Shape(192, dim_v=128), rows=128),
)
RAGGED = (
    Variant("bf16-128-cap", Shape(128), rows=128, soft_cap=True),
    Variant("f16-64", Shape(64, dtype=HALF), rows=128),
    Variant("bf16-256", Shape(256), rows=64),
)
TIMES = 3


@pytest.fixture
def random(request: pytest.FixtureRequest) -> Random:
    """Another one in every run; --fictl-seed repeats it."""
    return Random(f"{request.config.option.fictl_seed} {request.node.name}")


def _long(variant: Variant, random: Random, device: str, *, paged: bool) -> Call:
    """Draw a call of more than one stage of keys, and of pages that boxes hold."""
    call = draw(variant, random, device, paged=paged, decode=False)
    batch = call.batch
    longer = [random.choice((n, 130, 300)) if n else 0 for n in batch.kv_lens]
    if "custom_mask" in call.plan or random.random() < 0.3:
        longer = list(batch.kv_lens)
    shape = replace(batch.shape, page_size=random.choice((8, 16, 24, 128)))
    return replace(call, batch=replace(batch, kv_lens=longer, shape=shape))


def _attend(call: Call, *, paged: bool, backend: str = "fa3", **plan: object) -> Sums:
    batch, shape = call.batch, call.batch.shape
    wrapper = BatchPrefillWithPagedKVCacheWrapper if paged else BatchPrefillWithRaggedKVCacheWrapper
    made = wrapper(workspace(batch.device), shape.layout, backend=backend)
    where = (*batch.page_table(),) if paged else (batch.kv_indptr,)
    sizes = (shape.page_size,) if paged else ()
    made.plan(
        batch.qo_indptr,
        *where,
        shape.heads,
        shape.kv_heads,
        shape.dim,
        *sizes,
        head_dim_vo=shape.value_dim,
        q_data_type=shape.dtype,
        **call.plan,
        **plan,
    )
    keys = (call.cache(),) if paged else batch.ragged()
    results: Sums = made.run(batch.q, *keys, return_lse=True, **call.results(), **call.run)
    return results


@pytest.mark.parametrize("variant", PAGED, ids=str)
def test_any_batch_in_pages(variant: Variant, random: Random, device: str) -> None:
    for _ in range(TIMES):
        call = _long(variant, random, device, paged=True)
        assert_attends(_attend(call, paged=True), call.expected(), call)


@pytest.mark.parametrize("variant", RAGGED, ids=str)
def test_any_batch_behind_one_another(variant: Variant, random: Random, device: str) -> None:
    for _ in range(TIMES):
        call = _long(variant, random, device, paged=False)
        assert_attends(_attend(call, paged=False), call.expected(), call)


def test_rows_that_see_nothing_do_not_wait_for_keys(random: Random, device: str) -> None:
    """Tiles without keys between others: their outputs must not lie where queries arrive."""
    for _ in range(TIMES):
        q_lens = [random.choice((100, 200, 300)) for _ in range(3)]
        batch = Batch(q_lens, [0, 20, 150], Shape(256, heads=2), device, random.getrandbits(30))
        call = Call(batch, {"causal": True}, {}, {"causal": True})
        assert_attends(_attend(call, paged=False), call.expected(), call)


@pytest.mark.parametrize("part", [64, 192])
def test_parts_are_merged_and_repeat_to_the_bit(part: int, device: str) -> None:
    """More tiles than blocks: each takes another one until none is left, and counts from 0 again."""
    batch = Batch([150, 3, 0, 40], [400, 131, 7, 40], Shape(128, 6, 2, page_size=16), device)
    call = Call(batch, {"causal": True}, {}, {"causal": True})
    pages = {"fixed_split_size": part // 16}
    first, second = (_attend(call, paged=True, **pages) for _ in range(2))
    assert_attends(first, call.expected(), call)
    assert all(map(torch.equal, first, second))


def test_one_plan_runs_any_number_of_times(device: str) -> None:
    batch = Batch([150, 40], [400, 131], Shape(128, 6, 2), device)
    shape = batch.shape
    made = BatchPrefillWithRaggedKVCacheWrapper(workspace(device), backend="fa3")
    sizes = (shape.heads, shape.kv_heads, shape.dim)
    made.plan(batch.qo_indptr, batch.kv_indptr, *sizes, causal=True, q_data_type=shape.dtype)
    results = [made.run(batch.q, *batch.ragged()) for _ in range(3)]
    assert_attends(results[0], batch.expected(causal=True))
    assert all(torch.equal(results[0], other) for other in results[1:])


def test_values_behind_a_request_are_not_seen(device: str) -> None:
    """A stage of keys goes on into the next request: 0 times NaN would be NaN."""
    batch = Batch([70, 70], [130, 130], Shape(128), device)
    q, (k, v) = batch.q, batch.ragged()
    k, v = k.clone(), v.clone()
    k[130:] = v[130:] = torch.nan
    sizes = (batch.shape.heads, batch.shape.kv_heads, batch.shape.dim)
    made = BatchPrefillWithRaggedKVCacheWrapper(workspace(device), backend="fa3")
    made.plan(batch.qo_indptr, batch.kv_indptr, *sizes, q_data_type=batch.shape.dtype)
    out, lse = made.run(q, k, v, return_lse=True)
    expected = batch.expected()
    assert_attends((out[:70], lse[:70]), (expected[0][:70], expected[1][:70]))


def test_results_beside_the_own_rows_stay(device: str) -> None:
    """Tiles of whole groups of heads: 126 rows of 3 heads, and requests that end within them."""
    batch = Batch([45, 5], [45, 70], Shape(128, 6, 2), device)
    wide = torch.full((52, 8, 128), 7.0, dtype=torch.bfloat16, device=device)
    k, v = batch.ragged()
    sizes = (6, 2, 128)
    made = BatchPrefillWithRaggedKVCacheWrapper(workspace(device), backend="fa3")
    made.plan(batch.qo_indptr, batch.kv_indptr, *sizes, causal=True, q_data_type=batch.shape.dtype)
    made.run(batch.q, k, v, out=wide[1:51, 1:7])
    assert_attends(wide[1:51, 1:7], batch.expected(causal=True))
    wide[1:51, 1:7] = 7.0
    assert bool((wide == 7.0).all())


def test_no_keys_at_all(device: str) -> None:
    q, k = (torch.zeros(n, 2, 64, dtype=torch.bfloat16, device=device) for n in (70, 0))
    out, lse = single_prefill_with_kv_cache(q, k, k, backend="fa3", return_lse=True)
    assert not bool(out.any())
    assert bool((lse == -torch.inf).all())


def test_a_variant_of_ones_own(device: str) -> None:
    def near(q_idx, kv_idx, reach=9):
        return abs(q_idx - kv_idx) <= reach or kv_idx % 50 == 0

    def halved(value, dim):
        return value / 2 if dim % 2 else value

    variant = define_variant("CUSTOM", near, None, halved)
    q, k, v = (torch.randn(150, heads, 64, device=device).half() for heads in (4, 2, 2))
    found = [
        single_prefill_with_kv_cache(q, k, v, variant=variant, backend=backend)
        for backend in ("fa2", "fa3")
    ]
    torch.testing.assert_close(*found, rtol=2e-3, atol=2e-3)


def test_keys_that_all_heads_share_are_copied_first(device: str) -> None:
    q = torch.randn(130, 4, 128, device=device).bfloat16()
    k, v = (torch.randn(140, 1, 128, device=device).bfloat16() for _ in range(2))
    shared = [x.expand(140, 4, 128) for x in (k, v)]
    found = single_prefill_with_kv_cache(q, *shared, backend="fa3")
    assert_attends(found, (single_prefill_with_kv_cache(q, k, v, backend="fa2"),) * 2)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"pos_encoding_mode": "ROPE_LLAMA"}, "rotation as keys are loaded"),
        ({"kv_data_type": torch.float8_e4m3fn, "head_dim_qk": 256}, "keys of float8_e4m3fn"),
        ({"head_dim_qk": 80}, "heads of 80"),
        ({"num_qo_heads": 256, "num_kv_heads": 1}, "256 heads to one of the keys, 128 at most"),
    ],
)
def test_who_asks_for_what_it_does_not_do_is_told_why(
    options: dict[str, object], reason: str, device: str
) -> None:
    plan = {
        "qo_indptr": torch.tensor([0, 200], dtype=torch.int32),
        "paged_kv_indptr": torch.tensor([0, 1], dtype=torch.int32),
        "paged_kv_indices": torch.zeros(1, dtype=torch.int32),
        "paged_kv_last_page_len": torch.ones(1, dtype=torch.int32),
        "num_qo_heads": 2,
        "num_kv_heads": 1,
        "head_dim_qk": 128,
        "page_size": 16,
        **options,
    }
    made = BatchPrefillWithPagedKVCacheWrapper(workspace(device), backend="fa3")
    with pytest.raises(FictlError, match=reason):
        made.plan(**plan)


@pytest.mark.parametrize(
    ("queries", "cores", "why"),
    [(200, "wgmma", "backend='auto'"), (20, "tensor cores", "64 rows or fewer a request")],
)
def test_long_prompts_go_there_and_short_ones_do_not(
    queries: int,
    cores: str,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    device: str,
) -> None:
    monkeypatch.setenv("FICTL_ATTENTION_VERBOSE", "1")
    q, k, v = (torch.randn(queries, heads, 128, device=device).bfloat16() for heads in (2, 1, 1))
    single_prefill_with_kv_cache(q, k, v, causal=True)
    assert f": {cores} (" in caplog.messages[-1]
    assert why in caplog.messages[-1]


def test_results_of_8_bits(device: str) -> None:
    """As trtllm_batch_context_with_kv_cache has them: whole tiles, and parts that are merged."""
    config = Config(BF16, BF16, E4M3, 64, True, 128, backend="sm90", keys=128)
    batch = Batch((70, 0, 3), (130, 9, 300), shape_of(config, 2, page_size=16), device)
    for cuts in ((), (64,)):
        out, lse = attend(config, WorkList(batch, config.rows, cuts, causal=True))
        wanted, sums = batch.expected(causal=True)
        assert_close(out, wanted, tolerances={"float8_e4m3fn": (8.3e-2, 1.8e-2)})
        assert_attends((torch.zeros_like(wanted), lse), (torch.zeros_like(wanted), sums))
