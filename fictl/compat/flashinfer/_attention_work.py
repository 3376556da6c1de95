"""The operations and bytes of one attention, and the rates that a time makes of them."""

from __future__ import annotations

import math
from typing import Any

import torch

from fictl.errors import InvalidValue

__all__ = [
    "attention_flops",
    "attention_flops_with_actual_seq_lens",
    "attention_tb_per_sec",
    "attention_tb_per_sec_with_actual_seq_lens",
    "attention_tflops_per_sec",
    "attention_tflops_per_sec_with_actual_seq_lens",
]


def attention_flops(
    batch_size: int,
    qo_seqlen: int,
    kv_seqlen: int,
    head_dim_qk: int,
    head_dim_vo: int,
    num_qo_heads: int,
    causal: bool,
) -> int:
    """Of both products, two operations a pair of numbers; causal, of the pairs that are seen.

    All requests have the same lengths. A causal query sees the keys that end where it stands, half
    of its own tokens: (2 kv - qo) / 2 keys on average.
    """
    pairs = _pairs(qo_seqlen, kv_seqlen, causal)
    return batch_size * pairs * num_qo_heads * (head_dim_qk + head_dim_vo)


def attention_flops_with_actual_seq_lens(
    actual_seq_lens_q: torch.Tensor,
    actual_seq_lens_kv: torch.Tensor,
    head_dim_qk: int,
    head_dim_vo: int,
    num_qo_heads: int,
    causal: bool,
) -> Any:
    """The same, by the lengths of each request."""
    lengths = zip(
        actual_seq_lens_q.flatten().tolist(), actual_seq_lens_kv.flatten().tolist(), strict=True
    )
    return sum(
        attention_flops(1, q, kv, head_dim_qk, head_dim_vo, num_qo_heads, causal)
        for q, kv in lengths
    )


def attention_tflops_per_sec(
    batch_size: int,
    qo_seqlen: int,
    kv_seqlen: int,
    head_dim_qk: int,
    head_dim_vo: int,
    num_qo_heads: int,
    causal: bool,
    time: float,
) -> float:
    """`time` in milliseconds; 0 where it is NaN."""
    flops = attention_flops(
        batch_size, qo_seqlen, kv_seqlen, head_dim_qk, head_dim_vo, num_qo_heads, causal
    )
    return _rate(flops, time)


def attention_tflops_per_sec_with_actual_seq_lens(
    actual_seq_lens_q: torch.Tensor,
    actual_seq_lens_kv: torch.Tensor,
    head_dim_qk: int,
    head_dim_vo: int,
    num_qo_heads: int,
    causal: bool,
    ms: float,
) -> float:
    flops = attention_flops_with_actual_seq_lens(
        actual_seq_lens_q, actual_seq_lens_kv, head_dim_qk, head_dim_vo, num_qo_heads, causal
    )
    return _rate(flops, ms)


def attention_tb_per_sec(
    batch_size: int,
    qo_seqlen: int,
    kv_seqlen: int,
    head_dim_qk: int,
    head_dim_vo: int,
    num_qo_heads: int,
    num_kv_heads: int,
    time: float,
    q_dtype: torch.dtype = torch.bfloat16,
    k_dtype: torch.dtype = torch.bfloat16,
    v_dtype: torch.dtype = torch.bfloat16,
    o_dtype: torch.dtype = torch.bfloat16,
) -> float:
    """q, k, v and the output once; `time` in milliseconds, 0 where it is NaN. 1 TB is 1e12 bytes."""
    queries = qo_seqlen * num_qo_heads
    keys = kv_seqlen * num_kv_heads
    of_queries = queries * (head_dim_qk * q_dtype.itemsize + head_dim_vo * o_dtype.itemsize)
    of_keys = keys * (head_dim_qk * k_dtype.itemsize + head_dim_vo * v_dtype.itemsize)
    return _rate(batch_size * (of_queries + of_keys), time)


def attention_tb_per_sec_with_actual_seq_lens(
    actual_seq_lens_q: torch.Tensor,
    actual_seq_lens_kv: torch.Tensor,
    head_dim_qk: int,
    head_dim_vo: int,
    num_qo_heads: int,
    num_kv_heads: int,
    time: float,
    q_dtype: torch.dtype = torch.bfloat16,
    k_dtype: torch.dtype = torch.bfloat16,
    v_dtype: torch.dtype = torch.bfloat16,
    o_dtype: torch.dtype = torch.bfloat16,
) -> float:
    queries, keys = int(actual_seq_lens_q.sum()), int(actual_seq_lens_kv.sum())
    return attention_tb_per_sec(
        1,
        queries,
        keys,
        head_dim_qk,
        head_dim_vo,
        num_qo_heads,
        num_kv_heads,
        time,
        q_dtype,
        k_dtype,
        v_dtype,
        o_dtype,
    )


def _pairs(queries: int, keys: int, causal: bool) -> int:
    """Twice those of a query and a key that it sees."""
    if not causal:
        return 2 * queries * keys
    if queries > keys:
        raise InvalidValue(f"causal attention of {queries} queries over {keys} keys")
    return queries * (2 * keys - queries)


def _rate(amount: float, milliseconds: float) -> float:
    return 0.0 if math.isnan(milliseconds) else amount / milliseconds / 1e9
