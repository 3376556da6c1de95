"""apply_rope and its kin: turn the heads of queries and keys by the positions of their tokens."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="q_out k_out")
def apply_rope(
    q: torch.Tensor,
    k: torch.Tensor,
    indptr: torch.Tensor,
    offsets: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 1,
    rope_theta: float = 1e4,
    *,
    q_out: torch.Tensor | None = None,
    k_out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate the heads of q and k by ragged segments' positions.

    q: (tokens, q_heads, head_dim); the elements of a head are neighbours, tokens and heads at any
        pitch, as in a slice of packed projections.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype; k_heads may be 0.
    indptr: (segments + 1,), int32 or int64: segment i is tokens indptr[i] to indptr[i + 1]. Tokens of
        no segment stay as they are.
    offsets: (segments,), int32 or int64: the position of a segment's first token.
    rotary_dim: how many values of a head are rotated, an even number up to 512; the others are
        copied. None rotates the head.
    interleave: pairs are neighbours. Else they are a value and the one rotary_dim / 2 further on.
    rope_scale: pair i turns by rope_theta^(-2 i / rotary_dim) / rope_scale from one position to the
        next. Angles are exact at any position that int32 holds.
    rope_theta: a number.
    q_out: like q; may be q itself. None allocates it.
    k_out: like k; may be k itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    q_out = torch.empty_like(q) if q_out is None else q_out
    k_out = torch.empty_like(k) if k_out is None else k_out
    kernel.apply_rope(
        q,
        k,
        q_out,
        k_out,
        indptr,
        offsets,
        q.shape[-1] if rotary_dim is None else rotary_dim,
        interleave,
        rope_scale,
        rope_theta,
        enable_pdl is None or enable_pdl,
    )
    return q_out, k_out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="q_out k_out")
def apply_rope_pos_ids(
    q: torch.Tensor,
    k: torch.Tensor,
    pos_ids: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 1,
    rope_theta: float = 1e4,
    *,
    q_out: torch.Tensor | None = None,
    k_out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate the heads of q and k by the position of each token.

    q: (tokens, q_heads, head_dim); the elements of a head are neighbours, tokens and heads at any
        pitch, as in a slice of packed projections.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype; k_heads may be 0.
    pos_ids: (tokens,), int32 or int64: the position of each token.
    rotary_dim: how many values of a head are rotated, an even number up to 512; the others are
        copied. None rotates the head.
    interleave: pairs are neighbours. Else they are a value and the one rotary_dim / 2 further on.
    rope_scale: pair i turns by rope_theta^(-2 i / rotary_dim) / rope_scale from one position to the
        next. Angles are exact at any position that int32 holds.
    rope_theta: a number.
    q_out: like q; may be q itself. None allocates it.
    k_out: like k; may be k itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    q_out = torch.empty_like(q) if q_out is None else q_out
    k_out = torch.empty_like(k) if k_out is None else k_out
    kernel.apply_rope_pos_ids(
        q,
        k,
        q_out,
        k_out,
        pos_ids,
        q.shape[-1] if rotary_dim is None else rotary_dim,
        interleave,
        rope_scale,
        rope_theta,
        enable_pdl is None or enable_pdl,
    )
    return q_out, k_out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="q_out k_out")
def apply_llama31_rope(
    q: torch.Tensor,
    k: torch.Tensor,
    indptr: torch.Tensor,
    offsets: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 8,
    rope_theta: float = 5e5,
    low_freq_factor: float = 1,
    high_freq_factor: float = 4,
    old_context_len: int = 8192,
    *,
    q_out: torch.Tensor | None = None,
    k_out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate the heads of q and k by ragged segments' positions, as Llama 3.1 does.

    q: (tokens, q_heads, head_dim); the elements of a head are neighbours, tokens and heads at any
        pitch, as in a slice of packed projections.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype; k_heads may be 0.
    indptr: (segments + 1,), int32 or int64: segment i is tokens indptr[i] to indptr[i + 1]. Tokens of
        no segment stay as they are.
    offsets: (segments,), int32 or int64: the position of a segment's first token.
    rotary_dim: how many values of a head are rotated, an even number up to 512; the others are
        copied. None rotates the head.
    interleave: pairs are neighbours. Else they are a value and the one rotary_dim / 2 further on.
    rope_scale: pair i turns by f = rope_theta^(-2 i / rotary_dim) from one position to the next where
        that is at least high_freq_factor turns in old_context_len positions, by f / rope_scale where
        it is at most low_freq_factor turns, and by a mixture in between. Angles are exact at any
        position that int32 holds.
    rope_theta, low_freq_factor, high_freq_factor, old_context_len: numbers.
    q_out: like q; may be q itself. None allocates it.
    k_out: like k; may be k itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    q_out = torch.empty_like(q) if q_out is None else q_out
    k_out = torch.empty_like(k) if k_out is None else k_out
    kernel.apply_llama31_rope(
        q,
        k,
        q_out,
        k_out,
        indptr,
        offsets,
        q.shape[-1] if rotary_dim is None else rotary_dim,
        interleave,
        rope_scale,
        rope_theta,
        low_freq_factor,
        high_freq_factor,
        old_context_len,
        enable_pdl is None or enable_pdl,
    )
    return q_out, k_out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="q_out k_out")
def apply_llama31_rope_pos_ids(
    q: torch.Tensor,
    k: torch.Tensor,
    pos_ids: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 8,
    rope_theta: float = 5e5,
    low_freq_factor: float = 1,
    high_freq_factor: float = 4,
    old_context_len: int = 8192,
    *,
    q_out: torch.Tensor | None = None,
    k_out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate the heads of q and k by the position of each token, as Llama 3.1 does.

    q: (tokens, q_heads, head_dim); the elements of a head are neighbours, tokens and heads at any
        pitch, as in a slice of packed projections.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype; k_heads may be 0.
    pos_ids: (tokens,), int32 or int64: the position of each token.
    rotary_dim: how many values of a head are rotated, an even number up to 512; the others are
        copied. None rotates the head.
    interleave: pairs are neighbours. Else they are a value and the one rotary_dim / 2 further on.
    rope_scale: pair i turns by f = rope_theta^(-2 i / rotary_dim) from one position to the next where
        that is at least high_freq_factor turns in old_context_len positions, by f / rope_scale where
        it is at most low_freq_factor turns, and by a mixture in between. Angles are exact at any
        position that int32 holds.
    rope_theta, low_freq_factor, high_freq_factor, old_context_len: numbers.
    q_out: like q; may be q itself. None allocates it.
    k_out: like k; may be k itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    q_out = torch.empty_like(q) if q_out is None else q_out
    k_out = torch.empty_like(k) if k_out is None else k_out
    kernel.apply_llama31_rope_pos_ids(
        q,
        k,
        q_out,
        k_out,
        pos_ids,
        q.shape[-1] if rotary_dim is None else rotary_dim,
        interleave,
        rope_scale,
        rope_theta,
        low_freq_factor,
        high_freq_factor,
        old_context_len,
        enable_pdl is None or enable_pdl,
    )
    return q_out, k_out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="q k")
def apply_rope_inplace(
    q: torch.Tensor,
    k: torch.Tensor,
    indptr: torch.Tensor,
    offsets: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 1,
    rope_theta: float = 1e4,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """What apply_rope does, in place.

    q: (tokens, q_heads, head_dim), at any pitch of tokens and heads.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype.
    indptr: (segments + 1,), int32 or int64.
    offsets: (segments,), int32 or int64.
    rotary_dim: how many values of a head are rotated; the others stay as they are.
    The others: as there.
    """
    kernel.apply_rope_inplace(
        q,
        k,
        indptr,
        offsets,
        q.shape[-1] if rotary_dim is None else rotary_dim,
        interleave,
        rope_scale,
        rope_theta,
        enable_pdl is None or enable_pdl,
    )


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="q k")
def apply_rope_pos_ids_inplace(
    q: torch.Tensor,
    k: torch.Tensor,
    pos_ids: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 1,
    rope_theta: float = 1e4,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """What apply_rope_pos_ids does, in place.

    q: (tokens, q_heads, head_dim), at any pitch of tokens and heads.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype.
    pos_ids: (tokens,), int32 or int64.
    rotary_dim: how many values of a head are rotated; the others stay as they are.
    The others: as there.
    """
    kernel.apply_rope_pos_ids_inplace(
        q,
        k,
        pos_ids,
        q.shape[-1] if rotary_dim is None else rotary_dim,
        interleave,
        rope_scale,
        rope_theta,
        enable_pdl is None or enable_pdl,
    )


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="q k")
def apply_llama31_rope_inplace(
    q: torch.Tensor,
    k: torch.Tensor,
    indptr: torch.Tensor,
    offsets: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 8,
    rope_theta: float = 5e5,
    low_freq_factor: float = 1,
    high_freq_factor: float = 4,
    old_context_len: int = 8192,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """What apply_llama31_rope does, in place.

    q: (tokens, q_heads, head_dim), at any pitch of tokens and heads.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype.
    indptr: (segments + 1,), int32 or int64.
    offsets: (segments,), int32 or int64.
    rotary_dim: how many values of a head are rotated; the others stay as they are.
    The others: as there.
    """
    kernel.apply_llama31_rope_inplace(
        q,
        k,
        indptr,
        offsets,
        q.shape[-1] if rotary_dim is None else rotary_dim,
        interleave,
        rope_scale,
        rope_theta,
        low_freq_factor,
        high_freq_factor,
        old_context_len,
        enable_pdl is None or enable_pdl,
    )


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="q k")
def apply_llama31_rope_pos_ids_inplace(
    q: torch.Tensor,
    k: torch.Tensor,
    pos_ids: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 8,
    rope_theta: float = 5e5,
    low_freq_factor: float = 1,
    high_freq_factor: float = 4,
    old_context_len: int = 8192,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """What apply_llama31_rope_pos_ids does, in place.

    q: (tokens, q_heads, head_dim), at any pitch of tokens and heads.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype.
    pos_ids: (tokens,), int32 or int64.
    rotary_dim: how many values of a head are rotated; the others stay as they are.
    The others: as there.
    """
    kernel.apply_llama31_rope_pos_ids_inplace(
        q,
        k,
        pos_ids,
        q.shape[-1] if rotary_dim is None else rotary_dim,
        interleave,
        rope_scale,
        rope_theta,
        low_freq_factor,
        high_freq_factor,
        old_context_len,
        enable_pdl is None or enable_pdl,
    )


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="q_out k_out")
def apply_rope_with_cos_sin_cache(
    positions: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    head_size: int,
    cos_sin_cache: torch.Tensor,
    is_neox: bool = True,
    *,
    q_out: torch.Tensor | None = None,
    k_out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate the heads of query and key by a table of cosines and sines.

    positions: (tokens,), int32 or int64: rows of cos_sin_cache.
    query: (tokens, q_heads * head_size) or (tokens, q_heads, head_size); the elements of a head are
        neighbours, tokens and heads at any pitch.
    key: (tokens, k_heads * head_size) or (tokens, k_heads, head_size), likewise, of query's dtype.
    head_size: values a head.
    cos_sin_cache: (positions, rotary_dim), contiguous fp32: in a row rotary_dim / 2 cosines, then as
        many sines. Values of a head beyond rotary_dim are copied.
    is_neox: a pair is a value and the one rotary_dim / 2 further on. Else pairs are neighbours.
    q_out: like query; may be query itself. None allocates it.
    k_out: like key; may be key itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    q_out = torch.empty_like(query) if q_out is None else q_out
    k_out = torch.empty_like(key) if k_out is None else k_out
    kernel.apply_rope_with_cos_sin_cache(
        positions,
        query,
        key,
        q_out,
        k_out,
        head_size,
        cos_sin_cache,
        is_neox,
        enable_pdl is None or enable_pdl,
    )
    return q_out, k_out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="query key")
def apply_rope_with_cos_sin_cache_inplace(
    positions: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    head_size: int,
    cos_sin_cache: torch.Tensor,
    is_neox: bool = True,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """What apply_rope_with_cos_sin_cache does, in place.

    positions: (tokens,), int32 or int64.
    query: (tokens, q_heads * head_size) or (tokens, q_heads, head_size), at any pitch.
    key: (tokens, k_heads * head_size) or (tokens, k_heads, head_size), likewise.
    cos_sin_cache: (positions, rotary_dim), contiguous fp32. Values of a head beyond rotary_dim stay
        as they are.
    The others: as there.
    """
    kernel.apply_rope_with_cos_sin_cache_inplace(
        positions,
        query,
        key,
        head_size,
        cos_sin_cache,
        is_neox,
        enable_pdl is None or enable_pdl,
    )
