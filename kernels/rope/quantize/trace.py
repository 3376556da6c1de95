"""Traces of rope_quantize_fp8, its MLA form and its form for a paged cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var


def _reference(
    q_rope: torch.Tensor,
    k_rope: torch.Tensor,
    q_nope: torch.Tensor | None,
    k_nope: torch.Tensor | None,
    cos_sin_cache: torch.Tensor,
    pos_ids: torch.Tensor,
    is_neox: bool = True,
    quant_scale_q: float = 1.0,
    quant_scale_kv: float = 1.0,
) -> tuple[torch.Tensor, ...]:
    cos, sin = cos_sin_cache[pos_ids.long()].chunk(2, dim=-1)

    def rotated(x: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, dim=-1) if is_neox else (x[..., ::2], x[..., 1::2])
        c, s = (cos, sin) if x.dim() == 2 else (cos[:, None], sin[:, None])
        return torch.stack([a * c - b * s, b * c + a * s], -2 if is_neox else -1).flatten(-2)

    return (
        rotated(q_rope) * quant_scale_q,
        rotated(k_rope) * quant_scale_kv,
        (q_rope[..., :0] if q_nope is None else q_nope) * quant_scale_q,
        (k_rope[..., :0] if k_nope is None else k_nope) * quant_scale_kv,
    )


def _append_reference(
    q_rope: torch.Tensor,
    k_rope: torch.Tensor,
    q_nope: torch.Tensor | None,
    k_nope: torch.Tensor | None,
    v: torch.Tensor,
    cos_sin_cache: torch.Tensor,
    pos_ids: torch.Tensor,
    paged_kv_cache: torch.Tensor,
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    is_neox: bool = True,
    quant_scale_q: float = 1.0,
    quant_scale_kv: float = 1.0,
    page_size: int = 16,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    q, k, q_rest, k_rest = _reference(
        q_rope,
        k_rope,
        q_nope,
        k_nope,
        cos_sin_cache,
        pos_ids,
        is_neox,
        quant_scale_q,
        quant_scale_kv,
    )
    token = (batch_indices >= 0).nonzero()[:, 0]  # the others are padding
    request, position = batch_indices[token].long(), positions[token].long()
    page = kv_indices[kv_indptr[request].long() + position // page_size].long()
    slot = position % page_size
    cache = paged_kv_cache.clone()
    cache[page, 0, slot] = torch.cat([k, k_rest], dim=-1)[token].to(cache.dtype)
    cache[page, 1, slot] = (v[token] * quant_scale_kv).to(cache.dtype)
    return q, q_rest, cache


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make angles of the usual frequencies, in random order."""
    pairs = sizes["rope_dim"] // 2
    speed = 10000.0 ** -(torch.arange(pairs, device=device) / max(pairs, 1))
    angles = torch.arange(sizes["max_positions"], device=device)[:, None] * speed
    pos_ids = torch.randint(
        0, sizes["max_positions"], (sizes["tokens"],), device=device, generator=generator
    )
    return {
        "cos_sin_cache": torch.cat([angles.cos(), angles.sin()], dim=-1).float(),
        "pos_ids": pos_ids.to(torch.int32),
    }


def _append_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Share pages and new tokens evenly among requests; new tokens are at their first slots."""
    tokens, requests = sizes["tokens"], sizes["requests"]
    shares = torch.arange(requests + 1, device=device)
    first = shares * tokens // requests
    request = torch.repeat_interleave(first.diff())
    pages = torch.randperm(sizes["pages"], device=device, generator=generator)
    numbers = {
        "kv_indices": pages[: sizes["used_pages"]],
        "kv_indptr": shares * sizes["used_pages"] // requests,
        "batch_indices": request,
        "positions": torch.arange(tokens, device=device) - first[request],
    }
    table = {name: value.to(torch.int32) for name, value in numbers.items()}
    return {**_init(sizes, dtype, device, generator), **table}


def _append_bytes(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    """Count two bytes read and one written per value; of the cache, the rows of the new tokens."""
    names = ("q_rope", "k_rope", "q_nope", "k_nope", "v")
    values = sum(inputs[name].numel() for name in names if inputs[name] is not None)
    return 3 * int(values) + 4 * sizes["tokens"] * sizes["rope_dim"]


def _bytes(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    return _append_bytes(sizes, {"v": None, **inputs})


_FP8 = "float8_e4m3fn"
_AXES: dict[str, Var | Const | Expr] = {
    "tokens": Var("tokens"),
    "qo_heads": Const("heads of queries", "h"),
    "rope_dim": Const("values of a head that are rotated", "rope"),
    "nope_dim": Const("values of a head that are not", "nope"),
    "max_positions": Var("positions of the cache of angles"),
}
_KV_HEADS: dict[str, Var | Const | Expr] = {"kv_heads": Const("heads of keys", "kv")}
_ROTATION = {
    "cos_sin_cache": Tensor(("max_positions", "rope_dim"), dtype="float32", doc="cos, then sin"),
    "pos_ids": Tensor(("tokens",), dtype="int32", doc="the row of the angles of a token"),
}
_HOW = {
    "is_neox": Scalar("bool", True, "pairs are at the same places of both halves"),
    "quant_scale_q": Scalar("float32", 0.75, "of queries"),
    "quant_scale_kv": Scalar("float32", 1.5, "of keys and values"),
}
_QUERIES = {
    "q_rope": ("tokens", "qo_heads", "rope_dim"),
    "q_nope": ("tokens", "qo_heads", "nope_dim"),
}
_KEYS = {
    "k_rope": ("tokens", "kv_heads", "rope_dim"),
    "k_nope": ("tokens", "kv_heads", "nope_dim"),
}
_EXTREMES = ("zeros", "small", "large", "nonfinite")

rope_quantize_fp8 = TraceTemplate(
    axes=_AXES | _KV_HEADS,
    inputs={
        "q_rope": Tensor(_QUERIES["q_rope"]),
        "k_rope": Tensor(_KEYS["k_rope"], dtype_from="q_rope"),
        "q_nope": Tensor(_QUERIES["q_nope"], dtype_from="q_rope", optional=True),
        "k_nope": Tensor(_KEYS["k_nope"], dtype_from="q_rope", optional=True),
        **_ROTATION,
        **_HOW,
    },
    outputs={
        "q_rope_out": Tensor(_QUERIES["q_rope"], dtype=_FP8),
        "k_rope_out": Tensor(_KEYS["k_rope"], dtype=_FP8),
        "q_nope_out": Tensor(_QUERIES["q_nope"], dtype=_FP8),
        "k_nope_out": Tensor(_KEYS["k_nope"], dtype=_FP8),
    },
    reference=_reference,
    constraints=("rope_dim % 2 == 0", "max_positions >= 1"),
    init=_init,
    extremes=_EXTREMES,
    bytes=_bytes,
    op_type="rope",
    description="Rotate queries and keys and make fp8 of them, times a scale.",
)

mla_rope_quantize_fp8 = TraceTemplate(
    axes=_AXES,
    inputs={
        "q_rope": Tensor(_QUERIES["q_rope"]),
        "k_rope": Tensor(("tokens", "rope_dim"), dtype_from="q_rope"),
        "q_nope": Tensor(_QUERIES["q_nope"], dtype_from="q_rope", optional=True),
        "k_nope": Tensor(("tokens", "nope_dim"), dtype_from="q_rope", optional=True),
        **_ROTATION,
        **_HOW,
    },
    outputs={
        "q_rope_out": Tensor(_QUERIES["q_rope"], dtype=_FP8),
        "k_rope_out": Tensor(("tokens", "rope_dim"), dtype=_FP8),
        "q_nope_out": Tensor(_QUERIES["q_nope"], dtype=_FP8),
        "k_nope_out": Tensor(("tokens", "nope_dim"), dtype=_FP8),
    },
    reference=_reference,
    constraints=("rope_dim % 2 == 0", "max_positions >= 1"),
    init=_init,
    extremes=_EXTREMES,
    bytes=_bytes,
    op_type="rope",
    description="Rotate MLA's queries and its shared key and make fp8 of them, times a scale.",
)

rope_quantize_fp8_append_paged_kv_cache = TraceTemplate(
    axes={
        **_AXES,
        **_KV_HEADS,
        "dim": Expr("rope_dim + nope_dim", "values of a head"),
        "len_indptr": Var("requests that the tokens are of, and one"),
        "requests": Expr("len_indptr - 1", "requests"),
        "pages": Var("pages of the cache"),
        "used_pages": Var("pages of the requests"),
        "page_size": Const("slots a page", "ps"),
        "kv": Const("keys and values", value=2),
    },
    inputs={
        "q_rope": Tensor(_QUERIES["q_rope"]),
        "k_rope": Tensor(_KEYS["k_rope"], dtype_from="q_rope"),
        "q_nope": Tensor(_QUERIES["q_nope"], dtype_from="q_rope", optional=True),
        "k_nope": Tensor(_KEYS["k_nope"], dtype_from="q_rope", optional=True),
        "v": Tensor(("tokens", "kv_heads", "dim"), dtype_from="q_rope"),
        **_ROTATION,
        "paged_kv_cache": Tensor(("pages", "kv", "page_size", "kv_heads", "dim"), dtype=_FP8),
        "kv_indices": Tensor(("used_pages",), dtype="int32", doc="the pages of all requests"),
        "kv_indptr": Tensor(("len_indptr",), dtype="int32", doc="where those of a request begin"),
        "batch_indices": Tensor(("tokens",), dtype="int32", doc="the request of each token"),
        "positions": Tensor(("tokens",), dtype="int32", doc="its position in it"),
        **_HOW,
        "page_size": Scalar("int32", 16, "slots a page"),
    },
    outputs={
        "q_rope_out": Tensor(_QUERIES["q_rope"], dtype=_FP8),
        "q_nope_out": Tensor(_QUERIES["q_nope"], dtype=_FP8),
        "paged_kv_cache": Tensor(("pages", "kv", "page_size", "kv_heads", "dim"), dtype=_FP8),
    },
    reference=_append_reference,
    constraints=(
        "rope_dim % 2 == 0",
        "max_positions >= 1",
        "requests >= 1",
        "pages >= used_pages",
        "used_pages >= requests",
        "(tokens + requests - 1) // requests <= used_pages // requests * page_size",
    ),
    init=_append_init,
    extremes=_EXTREMES,
    bytes=_append_bytes,
    op_type="rope",
    description="Rotate queries and keys, make fp8 of them, and append keys and values to a cache.",
)
