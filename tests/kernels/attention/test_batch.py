"""Tests of BatchAttention beside its trace: any mixture, pages, groups, and refusals."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch

from fictl.kernels.attention._arguments.dtypes import dtypes_of
from fictl.kernels.attention._arguments.options import Heads, options
from fictl.kernels.attention._plan.attention import Work
from fictl.kernels.attention._plan.lengths import Lengths
from fictl.kernels.attention.batch.beside import sms_for_many
from fictl.kernels.attention.batch.op import BatchAttention

from .reference import Batch, Shape, Sums, assert_attends, lengths

BF16 = torch.bfloat16


def _planned(batch: Batch, **options: Any) -> BatchAttention:
    shape = batch.shape
    wrapper = BatchAttention(shape.layout, batch.device)
    indptr, indices, _ = batch.page_table()
    kv_lens = torch.tensor([*batch.kv_lens], dtype=torch.int32)
    sizes = (shape.heads, shape.kv_heads, shape.dim, shape.dim, shape.page_size)
    wrapper.plan(batch.qo_indptr, indptr, indices, kv_lens, *sizes, **options)
    return wrapper


def _ran(batch: Batch, **options: Any) -> Sums:
    return _planned(batch, **options).run(batch.q, batch.cache())


@pytest.fixture
def random(request: pytest.FixtureRequest) -> Random:
    """Another one in every run; --fictl-seed repeats it."""
    return Random(f"{request.config.option.fictl_seed} {request.node.name}")


@pytest.mark.parametrize("most", [3, 40], ids=["few-queries", "many-queries"])
def test_any_mixture_of_requests(most: int, random: Random, device: str) -> None:
    for _ in range(8 if device == "cuda" else 2):
        requests = random.randint(2, 6)
        q_lens = [random.choice((0, 1, 1, most)) for _ in range(requests - 1)] + [most]
        kv_lens = [max(n, m) for n, m in zip(q_lens, lengths(random, requests, 90), strict=True)]
        kv_heads = random.randint(1, 2)
        shape = Shape(
            64,
            kv_heads * random.choice((1, 4, 7)),
            kv_heads,
            layout=random.choice(("NHD", "HND")),
            page_size=random.choice((1, 8, 16)),
        )
        batch = Batch(q_lens, kv_lens, shape, device, random.getrandbits(30))
        causal = random.random() < 0.7
        assert_attends(_ran(batch, causal=causal), batch.expected(causal=causal), (q_lens, kv_lens))


@pytest.mark.needs_gpu
def test_split_keys_of_both_kinds_are_merged(device: str) -> None:
    shape = Shape(128, 8, 2, page_size=16)
    batch = Batch([1, 40, 1, 300], [9000, 7000, 5000, 6000], shape, device)
    assert_attends(_ran(batch, causal=True), batch.expected(causal=True))


@pytest.mark.needs_gpu
def test_scores_may_be_capped(device: str) -> None:
    batch = Batch([1, 50], [70, 50], Shape(64), device)
    wrapper = _planned(batch, causal=True, logits_soft_cap=5.0)
    found = wrapper.run(batch.q, batch.cache(), logits_soft_cap=5.0)
    assert_attends(found, batch.expected(causal=True, logits_soft_cap=5.0))


def test_results_go_where_they_are_wanted(device: str) -> None:
    batch = Batch([1, 30, 1], [9, 30, 4], Shape(64), device)
    out = torch.full_like(batch.q.contiguous(), torch.nan)
    lse = torch.full(out.shape[:2], torch.nan, device=device)
    found = _planned(batch).run(batch.q, batch.cache(), out, lse)
    assert found[0] is out
    assert found[1] is lse
    assert_attends(found, batch.expected())


def test_plans_follow_one_another(device: str) -> None:
    """The first has both kinds of requests, the second one of them, and the third none."""
    wrapper: BatchAttention | None = None
    for q_lens, kv_lens in (([1, 30], [9, 31]), ([30, 20], [31, 20]), ([0, 0], [3, 5])):
        batch = Batch(q_lens, kv_lens, Shape(64), device)
        wrapper = wrapper or BatchAttention(device=device)
        indptr, indices, _ = batch.page_table()
        keys = torch.tensor(kv_lens, dtype=torch.int32)
        wrapper.plan(batch.qo_indptr, indptr, indices, keys, 4, 2, 64, 64, 4, causal=True)
        assert_attends(wrapper.run(batch.q, batch.cache()), batch.expected(causal=True))


@pytest.mark.parametrize(
    ("q_len", "kv_len", "decoding", "least", "most"),
    [(512, 4096, 64, 40, 70), (4000, 4000, 1, 125, 132), (17, 17, 128, 1, 2)],
    ids=["as-long", "many", "few"],
)
def test_sms_are_shared_out_by_what_both_kinds_take(
    q_len: int, kv_len: int, decoding: int, least: int, most: int
) -> None:
    heads = Heads(32, 8, 128, 128)
    types = dtypes_of("test", BF16, BF16, None)
    one = {"causal": True, "window_left": -1, "soft_cap": None, "sm_scale": None}
    rope = {"rope_scale": None, "rope_theta": None, "positions": "NONE"}
    chosen = options("test", heads, types, **one, **rope)
    works = []
    for queries, keys, count in ((1, 8192, decoding), (q_len, kv_len, 4)):
        ends = torch.arange(count + 1, dtype=torch.int32)
        known = Lengths(count, ends * keys, ends * queries, kv_lens=ends[1:] * 0 + keys)
        works.append(Work(known, chosen, 128))
    assert least <= sms_for_many(*works, sms=132) <= most


@pytest.mark.needs_gpu
def test_a_graph_has_both_kinds_side_by_side(device: str) -> None:
    batch = Batch([1, 40, 1, 300], [900, 700, 500, 600], Shape(128, 8, 2, page_size=16), device)
    wrapper = _planned(batch, causal=True)
    cache = batch.cache()
    wrapper.run(batch.q, cache)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = wrapper.run(batch.q, cache)
    for result in found:
        result.fill_(torch.nan)
    graph.replay()
    assert_attends(found, batch.expected(causal=True))


def test_a_refusal_names_the_request_of_the_batch(device: str) -> None:
    batch = Batch([1, 30, 1, 40], [9, 31, 4, 40], Shape(64), device)
    wrapper = BatchAttention(device=device)
    indptr, indices, _ = batch.page_table()
    keys = torch.tensor([9, 31, 4, 999], dtype=torch.int32)
    with pytest.raises(ValueError, match=r"'kv_len_arr' is 999 at request 3, whose pages hold"):
        wrapper.plan(batch.qo_indptr, indptr, indices, keys, 4, 2, 64, 64, 4)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"use_profiler": True}, NotImplementedError, r"'use_profiler' is given; `fictl profile`"),
        ({"num_kv_heads": 3}, ValueError, r"4 heads of queries to 3 of keys"),
        ({"kv_indices": torch.zeros(1).int()}, ValueError, r"'kv_indices' has 1 elements"),
    ],
)
def test_plans_are_refused_in_words(
    changed: dict[str, Any], error: type[Exception], message: str, device: str
) -> None:
    batch = Batch([1, 30], [9, 31], Shape(64), device)
    indptr, indices, _ = batch.page_table()
    plan: dict[str, Any] = {
        "qo_indptr": batch.qo_indptr,
        "kv_indptr": indptr,
        "kv_indices": indices,
        "kv_len_arr": torch.tensor([9, 31], dtype=torch.int32),
        "num_qo_heads": 4,
        "num_kv_heads": 2,
        "head_dim_qk": 64,
        "head_dim_vo": 64,
        "page_size": 4,
    }
    with pytest.raises(error, match=message):
        BatchAttention(device=device).plan(**{**plan, **changed})


def test_runs_are_refused_in_words(device: str) -> None:
    batch = Batch([1, 30], [9, 31], Shape(64), device)
    wrapper = _planned(batch)
    with pytest.raises(ValueError, match=r"'logits_soft_cap' is 3.0, plan\(\) was told 0.0"):
        wrapper.run(batch.q, batch.cache(), logits_soft_cap=3.0)
    with pytest.raises(ValueError, match=r"'kv_cache' has pages of 4, plan\(\) was told 3"):
        _planned(Batch([1, 30], [9, 31], Shape(64, page_size=3), device)).run(
            batch.q, batch.cache()
        )
    with pytest.raises(RuntimeError, match=r"run\(\) was called before plan\(\)"):
        BatchAttention(device=device).run(batch.q, batch.cache())
