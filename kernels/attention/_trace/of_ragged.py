"""References and inputs of calls whose keys lie behind one another, with offsets on the device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from .cost import seen
from .inputs import indptr
from .reference import attention


def deepseek(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    max_q_len: int,
    max_kv_len: int,
    bmm1_scale: float,
    bmm2_scale: float,
    batch_size: int,
    window_left: int,
    cum_seq_lens_q: torch.Tensor,
    cum_seq_lens_kv: torch.Tensor,
    is_causal: bool,
    attention_sinks: torch.Tensor | None,
) -> torch.Tensor:
    out = torch.zeros((*query.shape[:2], value.shape[-1]), dtype=torch.float64, device=query.device)
    queries, keys = cum_seq_lens_q.tolist(), cum_seq_lens_kv.tolist()
    options: dict[str, Any] = {"sm_scale": bmm1_scale, "sinks": attention_sinks}
    for i in range(batch_size):
        mine, seen_keys = slice(*queries[i : i + 2]), slice(*keys[i : i + 2])
        given = (query[mine], key[seen_keys], value[seen_keys], is_causal, window_left)
        out[mine] = attention(*given, **options)[0]
    return out * bmm2_scale


def packed(
    qkv: torch.Tensor,
    max_q_len: int,
    max_kv_len: int,
    bmm1_scale: float,
    bmm2_scale: float,
    batch_size: int,
    window_left: int,
    cum_seq_lens_q: torch.Tensor,
) -> torch.Tensor:
    starts = (cum_seq_lens_q, cum_seq_lens_q)
    sizes = (max_q_len, max_kv_len, bmm1_scale, bmm2_scale, batch_size, window_left)
    q, k, v = qkv.unbind(1)
    return deepseek(q, k, v, *sizes, *starts, True, None)


def deepseek_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    requests = sizes["batch_size"]
    return {
        "cum_seq_lens_q": indptr(sizes["tokens"], requests, device, generator),
        "cum_seq_lens_kv": indptr(sizes["keys"], requests, device, generator),
    }


def packed_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    return {"cum_seq_lens_q": indptr(sizes["tokens"], sizes["batch_size"], device, generator)}


def validate(**inputs: Any) -> None:
    """Raise ValueError for offsets that fall, or that go beyond what there is."""
    pairs = (("cum_seq_lens_q", ("query", "qkv")), ("cum_seq_lens_kv", ("key",)))
    for name, tensors in pairs:
        if name not in inputs:
            continue
        starts = inputs[name]
        rows = next(len(inputs[tensor]) for tensor in tensors if tensor in inputs)
        if bool((starts.diff() < 0).any()) or int(starts[0]) < 0 or int(starts[-1]) > rows:
            raise ValueError(f"'{name}' is {starts.tolist()}; offsets rise from 0 to {rows}")


def _scores(inputs: Mapping[str, Any]) -> int:
    queries = inputs["cum_seq_lens_q"].diff().tolist()
    keys = inputs.get("cum_seq_lens_kv", inputs["cum_seq_lens_q"]).diff().tolist()
    causal, window = bool(inputs.get("is_causal", True)), int(inputs["window_left"])
    return sum(seen(q, k, causal, window) for q, k in zip(queries, keys, strict=True))


def flops_of(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    dims = sizes["head_dim"] + sizes["head_dim_vo"]
    return 2 * _scores(inputs) * sizes["num_qo_heads"] * dims


def flops_of_packed(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    return 4 * _scores(inputs) * sizes["num_heads"] * sizes["head_dim"]


def bytes_of(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    dims = sizes["head_dim"] + sizes["head_dim_vo"]
    rows = sizes["tokens"] * sizes["num_qo_heads"] + sizes["keys"] * sizes["num_kv_heads"]
    element: int = inputs["query"].element_size()
    return rows * dims * element


def bytes_of_packed(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    element: int = inputs["qkv"].element_size()
    return 4 * sizes["tokens"] * sizes["num_heads"] * sizes["head_dim"] * element
