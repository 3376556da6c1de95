"""Operations and bytes of an attention, and the rates that follow from its time."""

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
    """Operations of both products, two for each multiply-add; causal masks are counted as such.

    All requests have the same lengths. A causal query attends to the keys up to its own position,
    (2 kv - qo) / 2 keys on average.
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
    """Operations of both products, by the lengths of each request."""
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
    """Rate in TFLOP/s; `time` is in milliseconds. It is 0 for NaN."""
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
    """Rate of reading q, k, v and writing the output once, in TB/s (1e12); `time` is in
    milliseconds. It is 0 for NaN.
    """
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
    """Twice the number of pairs of a query and a key it attends to."""
    if not causal:
        return 2 * queries * keys
    if queries > keys:
        raise InvalidValue(f"causal attention of {queries} queries over {keys} keys")
    return queries * (2 * keys - queries)


def _rate(amount: float, milliseconds: float) -> float:
    return 0.0 if math.isnan(milliseconds) else amount / milliseconds / 1e9
