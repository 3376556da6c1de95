"""Traces of the rotary embeddings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var

_FAR = 131072  # positions: as long as contexts are


def _rotate(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleave: bool
) -> torch.Tensor:
    """Rotate the first elements of every head; cos and sin are (tokens, pairs)."""
    pairs = cos.shape[-1]
    firsts = slice(0, 2 * pairs, 2) if interleave else slice(0, pairs)
    seconds = slice(1, 2 * pairs, 2) if interleave else slice(pairs, 2 * pairs)
    a, b = x[..., firsts], x[..., seconds]
    cos, sin = cos[:, None].to(x.dtype), sin[:, None].to(x.dtype)
    turned = torch.stack((a * cos - b * sin, b * cos + a * sin), -1 if interleave else -2)
    return torch.cat([turned.flatten(-2), x[..., 2 * pairs :]], dim=-1)


def _rotate_both(
    q: torch.Tensor,
    k: torch.Tensor,
    positions: torch.Tensor,
    frequencies: torch.Tensor,
    interleave: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    angles = positions.double()[:, None] * frequencies
    cos, sin = angles.cos(), angles.sin()
    return _rotate(q, cos, sin, interleave), _rotate(k, cos, sin, interleave)


def _frequencies(q: torch.Tensor, rope_scale: float, rope_theta: float) -> torch.Tensor:
    pairs = torch.arange(q.shape[-1] // 2, device=q.device, dtype=torch.float64)
    return rope_theta ** (-2 * pairs / q.shape[-1]) / rope_scale


def _llama31_frequencies(
    q: torch.Tensor,
    rope_scale: float,
    rope_theta: float,
    low_freq_factor: float,
    high_freq_factor: float,
    old_context_len: float,
) -> torch.Tensor:
    unscaled = _frequencies(q, 1.0, rope_theta)
    turns = old_context_len * unscaled / (2 * math.pi)
    kept = (turns - low_freq_factor) / (high_freq_factor - low_freq_factor)
    return unscaled * torch.lerp(
        torch.full_like(kept, 1 / rope_scale), torch.ones_like(kept), kept.clamp(0, 1)
    )


def _positions(indptr: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Return the positions of tokens, all of which belong to a segment."""
    lengths = indptr.diff()
    segment = torch.arange(len(lengths), device=indptr.device).repeat_interleave(lengths)
    tokens = torch.arange(len(segment), device=indptr.device)
    return offsets[segment] + tokens - indptr[segment]


def _pos_ids_reference(
    q: torch.Tensor,
    k: torch.Tensor,
    pos_ids: torch.Tensor,
    interleave: bool,
    rope_scale: float,
    rope_theta: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    frequencies = _frequencies(q, rope_scale, rope_theta)
    return _rotate_both(q, k, pos_ids, frequencies, interleave)


def _reference(
    q: torch.Tensor,
    k: torch.Tensor,
    indptr: torch.Tensor,
    offsets: torch.Tensor,
    interleave: bool,
    rope_scale: float,
    rope_theta: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    frequencies = _frequencies(q, rope_scale, rope_theta)
    return _rotate_both(q, k, _positions(indptr, offsets), frequencies, interleave)


def _llama31_pos_ids_reference(
    q: torch.Tensor,
    k: torch.Tensor,
    pos_ids: torch.Tensor,
    interleave: bool,
    rope_scale: float,
    rope_theta: float,
    low_freq_factor: float,
    high_freq_factor: float,
    old_context_len: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    frequencies = _llama31_frequencies(
        q, rope_scale, rope_theta, low_freq_factor, high_freq_factor, old_context_len
    )
    return _rotate_both(q, k, pos_ids, frequencies, interleave)


def _llama31_reference(
    q: torch.Tensor,
    k: torch.Tensor,
    indptr: torch.Tensor,
    offsets: torch.Tensor,
    interleave: bool,
    rope_scale: float,
    rope_theta: float,
    low_freq_factor: float,
    high_freq_factor: float,
    old_context_len: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    frequencies = _llama31_frequencies(
        q, rope_scale, rope_theta, low_freq_factor, high_freq_factor, old_context_len
    )
    return _rotate_both(q, k, _positions(indptr, offsets), frequencies, interleave)


def _table_reference(
    positions: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    head_size: int,
    cos_sin_cache: torch.Tensor,
    is_neox: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    cos, sin = cos_sin_cache[positions.long()].chunk(2, dim=-1)
    q = query.view(len(query), query.shape[1] // head_size, head_size)
    k = key.view(len(key), key.shape[1] // head_size, head_size)
    q, k = _rotate(q, cos, sin, not is_neox), _rotate(k, cos, sin, not is_neox)
    return q.flatten(1), k.flatten(1)


def _init_segments(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make segments between random tokens, some of them empty, at random positions."""
    nnz, batch_size = sizes["nnz"], sizes["batch_size"]
    cuts = torch.randint(0, nnz + 1, (batch_size - 1,), device=device, generator=generator)
    ends = torch.tensor([0, nnz], device=device)
    offsets = torch.randint(0, _FAR, (batch_size,), device=device, generator=generator)
    return {
        "indptr": torch.cat([cuts, ends]).sort().values.to(torch.int32),
        "offsets": offsets.to(torch.int32),
    }


def _init_pos_ids(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    ids = torch.randint(0, _FAR, (sizes["nnz"],), device=device, generator=generator)
    return {"pos_ids": ids.to(torch.int32)}


def _init_table(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make the table of a model; angles in fp64, which large positions need."""
    rows, pairs = sizes["max_seq_len"], sizes["rotary_dim"] // 2
    positions = torch.randint(0, rows, (sizes["nnz"],), device=device, generator=generator)
    pair = torch.arange(pairs, device=device, dtype=torch.float64)
    angles = torch.arange(rows, device=device)[:, None] * 1e4 ** (-pair / pairs)
    return {
        "positions": positions.to(torch.int32),
        "cos_sin_cache": torch.cat([angles.cos(), angles.sin()], dim=1).float(),
    }


def _validate_segments(indptr: torch.Tensor, q: torch.Tensor, **_: object) -> None:
    ends = indptr.tolist()
    if ends != sorted(ends):
        raise ValueError("indptr falls: a segment ends before it starts")
    if ends[0] != 0 or ends[-1] != len(q):
        raise ValueError(f"indptr goes from {ends[0]} to {ends[-1]}, q has {len(q)} tokens")


def _validate_table(positions: torch.Tensor, cos_sin_cache: torch.Tensor, **_: object) -> None:
    if len(positions) and not 0 <= int(positions.min()) <= int(positions.max()) < len(
        cos_sin_cache
    ):
        raise ValueError(f"positions are beyond the {len(cos_sin_cache)} rows of cos_sin_cache")


def _table_bytes(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    """Count heads read and written, and a row of the table per token."""
    values = (sizes["q_size"] + sizes["k_size"]) * inputs["query"].element_size()
    row = sizes["rotary_dim"] * inputs["cos_sin_cache"].element_size()
    return int(sizes["nnz"] * (2 * values + row + inputs["positions"].element_size()))


_NNZ = Var("tokens of all requests")
_AXES: dict[str, Var | Const | Expr] = {
    "nnz": _NNZ,
    "num_q_heads": Const("heads of q a token", "hq"),
    "num_k_heads": Const("heads of k a token", "hk"),
    "head_dim": Const("values a head", "d"),
}
_SEGMENT_AXES: dict[str, Var | Const | Expr] = {
    **_AXES,
    "len_indptr": Var("segments, and one"),
    "batch_size": Expr("len_indptr - 1", "segments"),
}
_TABLE_AXES: dict[str, Var | Const | Expr] = {
    "nnz": _NNZ,
    "q_size": Const("values of all heads of a query", "q"),
    "k_size": Const("values of all heads of a key", "k"),
    "head_size": Const("values a head", "d"),
    "max_seq_len": Var("rows of the table"),
    "rotary_dim": Const("values of a head that are rotated", "r"),
}

_Q = Tensor(("nnz", "num_q_heads", "head_dim"))
_K = Tensor(("nnz", "num_k_heads", "head_dim"), dtype_from="q")
_POS_IDS = {"q": _Q, "k": _K, "pos_ids": Tensor(("nnz",), dtype="int32", doc="of each token")}
_SEGMENTS = {
    "q": _Q,
    "k": _K,
    "indptr": Tensor(("len_indptr",), dtype="int32", doc="where segments start, and the end"),
    "offsets": Tensor(("batch_size",), dtype="int32", doc="positions of their first tokens"),
}
_INTERLEAVE = {"interleave": Scalar("bool", False, "pairs are adjacent elements")}
_PLAIN = {
    **_INTERLEAVE,
    "rope_scale": Scalar("float32", 1.0, "divides positions"),
    "rope_theta": Scalar("float32", 1e4, "base of the frequencies"),
}
_LLAMA31 = {
    **_INTERLEAVE,
    "rope_scale": Scalar("float32", 8.0, "divides the positions of slow pairs"),
    "rope_theta": Scalar("float32", 5e5, "base of the frequencies"),
    "low_freq_factor": Scalar(
        "float32", 1.0, "turns in the old context, up to which all is scaled"
    ),
    "high_freq_factor": Scalar("float32", 4.0, "turns in it, from which nothing is scaled"),
    "old_context_len": Scalar("int32", 8192, "positions that the model was trained on first"),
}
_OUT = {
    "q_out": Tensor(("nnz", "num_q_heads", "head_dim"), dtype_from="q"),
    "k_out": Tensor(("nnz", "num_k_heads", "head_dim"), dtype_from="q"),
}
_IN_PLACE = {"q": _OUT["q_out"], "k": _OUT["k_out"]}
_TABLE_OUT = {
    "q_out": Tensor(("nnz", "q_size"), dtype_from="query"),
    "k_out": Tensor(("nnz", "k_size"), dtype_from="query"),
}
_TABLE_IN_PLACE = {"query": _TABLE_OUT["q_out"], "key": _TABLE_OUT["k_out"]}

_EXTREMES = ("zeros", "small", "nonfinite")
_BY_IDS: dict[str, Any] = {
    "axes": _AXES,
    "constraints": ("head_dim % 2 == 0",),
    "extremes": _EXTREMES,
    "init": _init_pos_ids,
    "op_type": "rope",
}
_BY_SEGMENTS: dict[str, Any] = {
    "axes": _SEGMENT_AXES,
    "constraints": ("head_dim % 2 == 0", "len_indptr >= 2"),
    "extremes": _EXTREMES,
    "init": _init_segments,
    "validate": _validate_segments,
    "op_type": "rope",
}
_BY_TABLE: dict[str, Any] = {
    "axes": _TABLE_AXES,
    "constraints": (
        "q_size % head_size == 0",
        "k_size % head_size == 0",
        "rotary_dim % 2 == 0",
        "rotary_dim <= head_size",
        "max_seq_len >= 1",
    ),
    "extremes": _EXTREMES,
    "init": _init_table,
    "validate": _validate_table,
    "bytes": _table_bytes,
    "op_type": "rope",
}
_TABLE: dict[str, Tensor | Scalar] = {
    "positions": Tensor(("nnz",), dtype="int32", doc="rows of the table"),
    "query": Tensor(("nnz", "q_size")),
    "key": Tensor(("nnz", "k_size"), dtype_from="query"),
    "head_size": Scalar("int32", 128, "values a head"),
    "cos_sin_cache": Tensor(("max_seq_len", "rotary_dim"), dtype="float32", doc="halves"),
    "is_neox": Scalar("bool", True, "whether a pair is one value of either half"),
}

apply_rope = TraceTemplate(
    inputs={**_SEGMENTS, **_PLAIN},
    outputs=_OUT,
    reference=_reference,
    description="Rotate q and k by the positions of their tokens in ragged segments.",
    **_BY_SEGMENTS,
)

apply_rope_inplace = TraceTemplate(
    inputs={**_SEGMENTS, **_PLAIN},
    outputs=_IN_PLACE,
    reference=_reference,
    description="Rotate q and k in place by the positions of their tokens in ragged segments.",
    **_BY_SEGMENTS,
)

apply_rope_pos_ids = TraceTemplate(
    inputs={**_POS_IDS, **_PLAIN},
    outputs=_OUT,
    reference=_pos_ids_reference,
    description="Rotate q and k by the position of each token.",
    **_BY_IDS,
)

apply_rope_pos_ids_inplace = TraceTemplate(
    inputs={**_POS_IDS, **_PLAIN},
    outputs=_IN_PLACE,
    reference=_pos_ids_reference,
    description="Rotate q and k in place by the position of each token.",
    **_BY_IDS,
)

apply_llama31_rope = TraceTemplate(
    inputs={**_SEGMENTS, **_LLAMA31},
    outputs=_OUT,
    reference=_llama31_reference,
    description="Rotate q and k of ragged segments by the frequencies of Llama 3.1.",
    **_BY_SEGMENTS,
)

apply_llama31_rope_inplace = TraceTemplate(
    inputs={**_SEGMENTS, **_LLAMA31},
    outputs=_IN_PLACE,
    reference=_llama31_reference,
    description="Rotate q and k in place of ragged segments by the frequencies of Llama 3.1.",
    **_BY_SEGMENTS,
)

apply_llama31_rope_pos_ids = TraceTemplate(
    inputs={**_POS_IDS, **_LLAMA31},
    outputs=_OUT,
    reference=_llama31_pos_ids_reference,
    description="Rotate q and k by each token's position and the frequencies of Llama 3.1.",
    **_BY_IDS,
)

apply_llama31_rope_pos_ids_inplace = TraceTemplate(
    inputs={**_POS_IDS, **_LLAMA31},
    outputs=_IN_PLACE,
    reference=_llama31_pos_ids_reference,
    description="Rotate q and k in place by each token's position and the frequencies of Llama 3.1.",
    **_BY_IDS,
)

apply_rope_with_cos_sin_cache = TraceTemplate(
    inputs=_TABLE,
    outputs=_TABLE_OUT,
    reference=_table_reference,
    description="Rotate query and key by a table of cosines and sines.",
    **_BY_TABLE,
)

apply_rope_with_cos_sin_cache_inplace = TraceTemplate(
    inputs=_TABLE,
    outputs=_TABLE_IN_PLACE,
    reference=_table_reference,
    description="Rotate query and key in place by a table of cosines and sines.",
    **_BY_TABLE,
)
