"""Decode and prefill as one call over caches of four bits; what no request has is NaN or garbage."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.attention.planned_decode.op import (
    trtllm_batch_decode_with_kv_cache,
    xqa,
    xqa_batch_decode_with_kv_cache,
)
from fictl.kernels.attention.planned_prefill.op import trtllm_batch_context_with_kv_cache

from .tables import NO_PAGE, counters_are_zero, ints, memory, moved, packed
from .test_fp4_cache import K_SCALE, KV_HEADS, V_SCALE, Batch

LENGTHS = [33, 0, 12, 70]


def _table(batch: Batch) -> torch.Tensor:
    """Pages of each request, with garbage behind them."""
    counts = batch.indptr.diff().tolist()
    table = torch.full((len(counts), max(counts) + 3), NO_PAGE, dtype=torch.int32)
    for row, (start, count) in enumerate(zip(batch.indptr.tolist(), counts, strict=False)):
        table[row, :count] = batch.indices[start : start + count]
    return table.to(batch.device)


def _close(found: Any, wanted: Any) -> None:
    for x, y in zip(found, wanted, strict=True):
        torch.testing.assert_close(x.cpu().double(), y, rtol=2e-2, atol=2e-2)


def _given(batch: Batch) -> tuple[Any, ...]:
    return _table(batch), ints(batch.lengths, batch.device), 1


@pytest.mark.parametrize(("stacked", "group"), [(True, 2), (False, 2), (True, 8), (False, 9)])
def test_a_cache_is_a_tensor_or_a_pair_as_are_its_scales(
    stacked: bool, group: int, device: str
) -> None:
    batch = Batch(device, 64, 5, LENGTHS, "HND" if stacked else "NHD", 1, group * KV_HEADS)
    q, workspace = batch.queries(torch.float16), memory(device)
    cache, scales = batch.caches(stacked)
    found = trtllm_batch_decode_with_kv_cache(
        *(q, cache, workspace, *_given(batch), K_SCALE / 8, V_SCALE, 9),
        kv_layout=batch.layout,
        kv_cache_sf=scales,
        return_lse=True,
    )
    _close(found, batch.expected(q, 9))
    assert counters_are_zero(workspace)


def test_drafts_masks_and_scales_on_the_device(device: str) -> None:
    batch = Batch(device, 64, 16, LENGTHS, "NHD", 3)
    q = batch.queries(torch.float16)
    # A mask of what is seen without one: causal.
    mask = packed([torch.ones(3, 3).tril()] * len(LENGTHS), 3).to(device)
    cache, scales = batch.caches()
    out = xqa_batch_decode_with_kv_cache(
        *(q, cache, memory(device), *_given(batch)),
        torch.tensor([K_SCALE / 8], device=device),
        torch.tensor([V_SCALE], device=device),
        q_len_per_req=3,
        mask=mask,
        kv_cache_sf=scales,
    )
    _close([out.view(q.shape)], batch.expected(q)[:1])


def test_xqa_s_own_arguments(device: str) -> None:
    batch = Batch(device, 64, 16, LENGTHS, "NHD", 1)
    q = batch.queries(torch.float16)
    (k, v), (k_scales, v_scales) = batch.caches(stacked=False)
    output = torch.empty_like(q).view(4, 1, *q.shape[1:])
    semaphores = torch.zeros(512, dtype=torch.int32, device=device)
    lens = ints(batch.lengths, device)
    xqa(
        *(q.view(output.shape), k, v, _table(batch), lens, output, memory(device), semaphores),
        *(KV_HEADS, 16),
        q_scale=K_SCALE / V_SCALE,
        kv_scale=V_SCALE,
        k_sf_cache=k_scales,
        v_sf_cache=v_scales,
    )
    _close([output.view(q.shape)], batch.expected(q)[:1])


def _context(batch: Batch, q: torch.Tensor, **options: Any) -> Any:
    cache, scales = batch.caches()
    queries = ints([n * batch.q_len for n in range(len(batch.lengths) + 1)], batch.device)
    return trtllm_batch_context_with_kv_cache(
        *(q, cache, memory(batch.device), *_given(batch)[:2], batch.q_len, 1),
        options.pop("bmm1_scale", K_SCALE / 8),
        V_SCALE,
        *(len(batch.lengths), queries, queries),
        kv_layout=batch.layout,
        kv_cache_sf=scales,
        return_lse=True,
        **options,
    )


def test_many_queries(device: str) -> None:
    batch = Batch(device, 64, 5, [37, 40, 170], "HND", 30)
    q = batch.queries(torch.bfloat16)
    _close(_context(batch, q), batch.expected(q))


def test_many_queries_take_factors_as_numbers(device: str) -> None:
    batch = Batch(device, 64, 5, [37], "HND", 30)
    factor = torch.ones(1, device=device)
    with pytest.raises(NotImplementedError, match="whose scales take their place: pass numbers"):
        _context(batch, batch.queries(torch.bfloat16), bmm1_scale=factor)


@pytest.mark.parametrize(
    ("changed", "kind", "message"),
    [
        ({"kv_cache_sf": None}, ValueError, "'kv_cache_sf' is None; a cache of 4 bits has a scale"),
        ({"kv_cache_sf": torch.zeros(2)}, ValueError, r"'kv_cache_sf' has shape \(2,\)"),
        ({"uses_shared_paged_kv_idx": False}, NotImplementedError, "4 bits has one page table"),
        (
            {"kv_cache": torch.zeros(9, 2, 16, KV_HEADS, 64, dtype=torch.float16)},
            ValueError,
            "'kv_cache_sf' is given, and the cache has dtype torch.float16",
        ),
        ({"query": torch.zeros(4, 4, 32, dtype=torch.float16)}, NotImplementedError, "32 elements"),
        ({"query": torch.zeros(64, dtype=torch.float16)}, ValueError, r"'query' has shape \(64,\)"),
        ({"query": torch.tensor(1.0)}, ValueError, r"'query' has shape \(\), which is not 3-dim"),
    ],
)
def test_what_does_not_fit_is_refused(
    changed: dict[str, Any], kind: type[Exception], message: str, device: str
) -> None:
    batch = Batch(device, 64, 16, LENGTHS, "NHD", 1)
    cache, scales = batch.caches()
    table, lens, most = _given(batch)
    given: dict[str, Any] = {
        "query": batch.queries(torch.float16),
        "kv_cache": cache,
        "kv_cache_sf": scales,
        "kv_layout": "NHD",
        **moved(changed, device),
    }
    with pytest.raises(kind, match=message):
        trtllm_batch_decode_with_kv_cache(
            workspace_buffer=memory(device),
            block_tables=table,
            seq_lens=lens,
            max_seq_len=most,
            **given,
        )
