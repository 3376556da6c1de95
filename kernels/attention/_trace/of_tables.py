"""References and inputs of calls with page tables whose lengths are on the device."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import torch

from .cost import seen
from .inputs import indptr
from .reference import attention


def attend_tables(
    q: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    tables: torch.Tensor,
    lengths: torch.Tensor,
    *,
    starts: torch.Tensor | None = None,
    causal: bool = True,
    window_left: int = -1,
    sinks: torch.Tensor | None = None,
    scale: float,
    v_scale: float = 1.0,
) -> torch.Tensor:
    """Attend one query of each request, or those between its starts.

    Caches are (pages, page_size, heads, dim).
    """
    begins = list(range(len(lengths) + 1)) if starts is None else starts.tolist()
    out = torch.zeros(q.shape, dtype=torch.float64, device=q.device)
    for i, length in enumerate(lengths.flatten().tolist()):
        pages = tables[i, : -(-length // keys.shape[1])].long()
        k, v = (x[pages].flatten(0, 1)[:length] for x in (keys, values))
        options: dict[str, Any] = {"sm_scale": scale, "sinks": sinks}
        mine = slice(begins[i], begins[i + 1])
        out[mine] = attention(q[mine], k, v, causal, window_left, **options)[0]
    return out * v_scale


def trtllm(
    query: torch.Tensor,
    kv_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    max_seq_len: int,
    bmm1_scale: float,
    bmm2_scale: float,
    window_left: int,
    sinks: torch.Tensor | None,
) -> torch.Tensor:
    return xqa_batch(
        query,
        kv_cache.transpose(2, 3),
        block_tables,
        seq_lens,
        max_seq_len,
        bmm1_scale,
        bmm2_scale,
        window_left,
        sinks,
    )


def xqa_batch(
    query: torch.Tensor,
    kv_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    max_seq_len: int,
    bmm1_scale: float,
    bmm2_scale: float,
    window_left: int,
    sinks: torch.Tensor | None,
) -> torch.Tensor:
    return attend_tables(
        query,
        kv_cache[:, 0],
        kv_cache[:, 1],
        block_tables,
        seq_lens,
        window_left=window_left,
        sinks=sinks,
        scale=bmm1_scale,
        v_scale=bmm2_scale,
    )


def xqa(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    page_table: torch.Tensor,
    seq_lens: torch.Tensor,
    num_kv_heads: int,
    page_size: int,
    q_scale: float,
    kv_scale: float,
    sliding_win_size: int,
) -> torch.Tensor:
    scale = q_scale * kv_scale * q.shape[-1] ** -0.5
    window = sliding_win_size - 1
    sizes = {"window_left": window, "scale": scale, "v_scale": kv_scale}
    return attend_tables(q[:, 0], k_cache, v_cache, page_table, seq_lens, **sizes)[:, None]


def cudnn(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    scale: float,
    max_sequence_kv: int,
    actual_seq_lens_kv: torch.Tensor,
    block_tables: torch.Tensor,
    window_left: int,
    sinks: torch.Tensor | None,
) -> torch.Tensor:
    caches = (k_cache.transpose(1, 2), v_cache.transpose(1, 2))
    words: dict[str, Any] = {"window_left": window_left, "sinks": sinks, "scale": scale}
    return attend_tables(q, *caches, block_tables, actual_seq_lens_kv, **words)


def trtllm_context(
    query: torch.Tensor,
    kv_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    max_q_len: int,
    max_kv_len: int,
    bmm1_scale: float,
    bmm2_scale: float,
    batch_size: int,
    cum_seq_lens_q: torch.Tensor,
    window_left: int,
    causal: bool,
    sinks: torch.Tensor | None,
) -> torch.Tensor:
    return attend_tables(
        query,
        kv_cache[:, 0].transpose(1, 2),
        kv_cache[:, 1].transpose(1, 2),
        block_tables,
        seq_lens,
        starts=cum_seq_lens_q,
        causal=causal,
        window_left=window_left,
        sinks=sinks,
        scale=bmm1_scale,
        v_scale=bmm2_scale,
    )


def cudnn_prefill(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    scale: float,
    max_token_per_sequence: int,
    max_sequence_kv: int,
    actual_seq_lens_q: torch.Tensor,
    actual_seq_lens_kv: torch.Tensor,
    block_tables: torch.Tensor,
    causal: bool,
    batch_offsets_q: torch.Tensor,
) -> torch.Tensor:
    caches = (k_cache.transpose(1, 2), v_cache.transpose(1, 2))
    words: dict[str, Any] = {"starts": batch_offsets_q, "causal": causal, "scale": scale}
    return attend_tables(q, *caches, block_tables, actual_seq_lens_kv, **words)


def _draw(
    sizes: Mapping[str, int], requests: int, device: str, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw pages and lengths: whole tables where the cache holds no more.

    Entries beyond a request's pages name none.
    """
    most = sizes["most_pages"]
    keys = most * sizes["page_size"]
    table = torch.randperm(sizes["pages"], device=device, generator=generator)
    table = table[: requests * most].view(requests, most).int()
    lengths = torch.randint(0, keys + 1, (requests,), device=device, generator=generator)
    if sizes["pages"] == requests * most:
        lengths = torch.full_like(lengths, keys)
    used = torch.arange(most, device=device) * sizes["page_size"] < lengths[:, None]
    return table.where(used, -(1 << 30)), lengths.int()


def trtllm_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    table, lengths = _draw(sizes, sizes["requests"], device, generator)
    return {"block_tables": table, "seq_lens": lengths}


def xqa_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    table, lengths = _draw(sizes, sizes["requests"], device, generator)
    return {"page_table": table, "seq_lens": lengths}


def cudnn_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    table, lengths = _draw(sizes, sizes["requests"], device, generator)
    return {"block_tables": table, "actual_seq_lens_kv": lengths}


def validate(**inputs: Any) -> None:
    """Raise ValueError for pages that the cache does not have, or keys that no page holds."""
    table, lengths = _one(inputs, *_TABLES), _one(inputs, *_LENGTHS).flatten()
    cache = _one(inputs, *_CACHES)
    slots = int(inputs.get("page_size", 0)) or cache.shape[_SLOTS[_named(inputs)]]
    if bool((lengths < 0).any()) or bool((lengths > table.shape[1] * slots).any()):
        raise ValueError(
            f"requests have from {int(lengths.min())} to {int(lengths.max())} keys; the table has "
            f"places for {table.shape[1] * slots}"
        )
    used = torch.arange(table.shape[1], device=table.device) * slots < lengths[:, None]
    outside = used & ((table < 0) | (table >= len(cache)))
    if bool(outside.any()):
        raise ValueError(f"page {int(table[outside][0])} is not one of the cache's {len(cache)}")


def trtllm_context_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    requests = sizes["batch_size"]
    table, lengths = _draw(sizes, requests, device, generator)
    starts = indptr(sizes["tokens"], requests, device, generator)
    return {"block_tables": table, "seq_lens": lengths, "cum_seq_lens_q": starts}


def cudnn_prefill_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    requests = sizes["batch_size"]
    table, lengths = _draw(sizes, requests, device, generator)
    starts = indptr(sizes["tokens"], requests, device, generator)
    return {
        "block_tables": table,
        "actual_seq_lens_kv": lengths,
        "batch_offsets_q": starts,
        "actual_seq_lens_q": starts.diff(),
    }


_CACHES = ("kv_cache", "k_cache")
_TABLES = ("block_tables", "page_table")
_STARTS = ("cum_seq_lens_q", "batch_offsets_q")
_LENGTHS = ("seq_lens", "actual_seq_lens_kv")
# The dimension of slots: of a cache of both, which is HND or of 8 bits and NHD; of keys alone.
_SLOTS = {"hnd": 3, "nhd": 2, "pair": 2}


def _named(inputs: Mapping[str, Any]) -> str:
    if "kv_cache" not in inputs:
        return "pair"
    return "nhd" if inputs["kv_cache"].element_size() == 1 else "hnd"


def _one(inputs: Mapping[str, Any], *names: str) -> torch.Tensor:
    tensor: torch.Tensor = next(inputs[name] for name in names if name in inputs)
    return tensor


def _seen(inputs: Mapping[str, Any]) -> int:
    """Count the scores of a head that no mask takes away."""
    window = int(inputs.get("window_left", inputs.get("sliding_win_size", 0) - 1))
    lengths = _one(inputs, *_LENGTHS).flatten().tolist()
    return sum(
        seen(queries, length, bool(inputs.get("causal", True)), window)
        for queries, length in zip(_q_lens(inputs, len(lengths)), lengths, strict=True)
    )


def _read(inputs: Mapping[str, Any]) -> int:
    """Count the keys that some query of all requests sees."""
    window = int(inputs.get("window_left", inputs.get("sliding_win_size", 0) - 1))
    lengths = _one(inputs, *_LENGTHS).flatten().tolist()
    if window < 0:
        return sum(lengths)
    counts = zip(_q_lens(inputs, len(lengths)), lengths, strict=True)
    return sum(min(length, window + queries) for queries, length in counts)


def _q_lens(inputs: Mapping[str, Any], requests: int) -> list[int]:
    starts = [inputs[name] for name in _STARTS if name in inputs]
    return starts[0].diff().tolist() if starts else [1] * requests


def flops_of(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    return 4 * _seen(inputs) * sizes["num_qo_heads"] * sizes["head_dim"]


def bytes_of(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    q, cache = _one(inputs, "query", "q"), _one(inputs, *_CACHES)
    of_key = 2 * sizes["num_kv_heads"] * sizes["head_dim"] * cache.element_size()
    return 2 * q.numel() * q.element_size() + _read(inputs) * of_key


@lru_cache(maxsize=8)
def zeros(device: torch.device) -> torch.Tensor:
    """Make a workspace whose counters are zeros; all calls that are bound share it."""
    size = 128 << 20 if device.type == "cuda" else 16 << 20
    return torch.zeros(size, dtype=torch.uint8, device=device)
