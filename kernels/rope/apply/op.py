"""Rotary position embedding: rotate the heads of queries and keys by their tokens' positions."""

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
    """Rotate the heads of q and k by the positions of ragged segments.

    q: (tokens, q_heads, head_dim); last dimension contiguous, any stride of tokens and heads, as in a
        slice of packed projections.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype; k_heads may be 0.
    indptr: (segments + 1,), int32 or int64: segment i is tokens indptr[i] to indptr[i + 1]. Tokens of
        no segment are copied.
    offsets: (segments,), int32 or int64: the position of a segment's first token.
    rotary_dim: how many elements of a head are rotated, an even number up to 512; the others are
        copied. None: all of them.
    interleave: pairs are adjacent elements; otherwise an element and the one rotary_dim / 2 after it.
    rope_scale: pair i turns by rope_theta^(-2 i / rotary_dim) / rope_scale from one position to the
        next. Angles are exact at any position that int32 holds.
    rope_theta: the base of the frequencies.
    q_out: like q; may be q itself. None allocates it.
    k_out: like k; may be k itself. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
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

    pos_ids: (tokens,), int32 or int64: the position of each token.
    The others: as in apply_rope.
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
    """Rotate the heads of q and k by the positions of ragged segments, with Llama 3.1's frequencies.

    rope_scale: pair i turns by f = rope_theta^(-2 i / rotary_dim) from one position to the next where
        that is at least high_freq_factor turns in old_context_len positions, by f / rope_scale where
        it is at most low_freq_factor turns, and by a mixture in between.
    rope_theta, low_freq_factor, high_freq_factor, old_context_len: numbers of the model.
    The others: as in apply_rope.
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
    """Rotate the heads of q and k by the position of each token, with Llama 3.1's frequencies.

    pos_ids: (tokens,), int32 or int64: the position of each token.
    The others: as in apply_llama31_rope.
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
    """Rotate the heads of q and k in place by the positions of ragged segments.

    Arguments: as in apply_rope. Elements beyond rotary_dim are left unchanged.
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
    """Rotate the heads of q and k in place by the position of each token.

    Arguments: as in apply_rope_pos_ids. Elements beyond rotary_dim are left unchanged.
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
    """Rotate the heads of q and k in place by the positions of ragged segments, with Llama 3.1's frequencies.

    Arguments: as in apply_llama31_rope. Elements beyond rotary_dim are left unchanged.
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
    """Rotate the heads of q and k in place by the position of each token, with Llama 3.1's frequencies.

    Arguments: as in apply_llama31_rope_pos_ids. Elements beyond rotary_dim are left unchanged.
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
    query: (tokens, q_heads * head_size) or (tokens, q_heads, head_size); last dimension contiguous, any
        stride of tokens and heads.
    key: (tokens, k_heads * head_size) or (tokens, k_heads, head_size), likewise, of query's dtype.
    head_size: elements of a head.
    cos_sin_cache: (positions, rotary_dim), float32, contiguous: a row is rotary_dim / 2 cosines, then as
        many sines. Elements of a head beyond rotary_dim are copied.
    is_neox: a pair is an element and the one rotary_dim / 2 after it; otherwise, adjacent elements.
    q_out: like query; may be query itself. None allocates it.
    k_out: like key; may be key itself. None allocates it.
    enable_pdl: as in apply_rope.
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
    """Rotate the heads of query and key in place by a table of cosines and sines.

    Arguments: as in apply_rope_with_cos_sin_cache. Elements beyond rotary_dim are left unchanged.
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
