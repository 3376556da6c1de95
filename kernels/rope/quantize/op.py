"""rope_quantize: rotate queries and keys, and quantize to fp8, into tensors or a paged cache."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(
    archs=">=7.5",
    dtypes="f16 bf16",
    devices="cuda emu",
    mutates="q_rope_out k_rope_out q_nope_out k_nope_out",
)
def rope_quantize_fp8(
    q_rope: torch.Tensor,
    k_rope: torch.Tensor,
    q_nope: torch.Tensor | None,
    k_nope: torch.Tensor | None,
    cos_sin_cache: torch.Tensor,
    pos_ids: torch.Tensor,
    is_neox: bool = True,
    quantize_dtype: torch.dtype | None = None,
    quant_scale_q: float = 1.0,
    quant_scale_kv: float = 1.0,
    q_rope_out: torch.Tensor | None = None,
    k_rope_out: torch.Tensor | None = None,
    q_nope_out: torch.Tensor | None = None,
    k_nope_out: torch.Tensor | None = None,
    enable_pdl: bool = False,
    backend: str = "cuda",
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rotate the rotary parts of queries and keys; scale all parts and quantize them to fp8.

    q_rope: (tokens, qo_heads, rope_dim); last dimension contiguous, any stride of tokens and heads.
    k_rope: (tokens, kv_heads, rope_dim), or (tokens, rope_dim) for MLA; of q_rope's dtype.
    q_nope, k_nope: the parts that are not rotated, (..., nope_dim) likewise; None is a nope_dim of
        0.
    cos_sin_cache: (positions, rope_dim), float32: the cosines of a position, then the sines.
    pos_ids: (tokens,), int32 or int64.
    is_neox: a pair is element i of the first and of the second half of rope_dim; otherwise two
        adjacent elements.
    quantize_dtype: float8_e4m3fn or float8_e5m2. None: the dtype of the outputs given, or
        float8_e4m3fn.
    quant_scale_q, quant_scale_kv: numbers; results are clamped to the range of fp8.
    q_rope_out, k_rope_out, q_nope_out, k_nope_out: like their inputs, in fp8. None allocates them.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    backend: "cuda".
    """
    if backend != "cuda":
        raise ValueError(f"rope_quantize_fp8: argument 'backend' is {backend!r}; it is 'cuda'")
    given = (q_rope_out, k_rope_out, q_nope_out, k_nope_out)
    dtype = quantize_dtype or _dtype_of(*given)
    outs = (
        _like(q_rope, dtype) if q_rope_out is None else q_rope_out,
        _like(k_rope, dtype) if k_rope_out is None else k_rope_out,
        _rest_like(q_nope, q_rope, dtype) if q_nope_out is None else q_nope_out,
        _rest_like(k_nope, k_rope, dtype) if k_nope_out is None else k_nope_out,
    )
    kernel.rope_quantize_fp8(
        q_rope,
        k_rope,
        q_nope,
        k_nope,
        cos_sin_cache,
        pos_ids,
        *outs,
        quant_scale_q,
        quant_scale_kv,
        is_neox,
        enable_pdl,
    )
    return outs


@op(
    archs=">=7.5",
    dtypes="f16 bf16",
    devices="cuda emu",
    mutates="q_rope_out k_rope_out q_nope_out k_nope_out",
)
def mla_rope_quantize_fp8(
    q_rope: torch.Tensor,
    k_rope: torch.Tensor,
    q_nope: torch.Tensor | None,
    k_nope: torch.Tensor | None,
    cos_sin_cache: torch.Tensor,
    pos_ids: torch.Tensor,
    is_neox: bool = True,
    quantize_dtype: torch.dtype | None = None,
    quant_scale_q: float = 1.0,
    quant_scale_kv: float = 1.0,
    q_rope_out: torch.Tensor | None = None,
    k_rope_out: torch.Tensor | None = None,
    q_nope_out: torch.Tensor | None = None,
    k_nope_out: torch.Tensor | None = None,
    enable_pdl: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rotate and quantize as rope_quantize_fp8, for MLA, whose queries share one key.

    q_rope: (tokens, qo_heads, rope_dim).
    k_rope: (tokens, rope_dim).
    q_nope: (tokens, qo_heads, nope_dim) or None.
    k_nope: (tokens, nope_dim) or None.
    The others: as in rope_quantize_fp8.
    """
    dtype = quantize_dtype or _dtype_of(q_rope_out, k_rope_out, q_nope_out, k_nope_out)
    outs = (
        _like(q_rope, dtype) if q_rope_out is None else q_rope_out,
        _like(k_rope, dtype) if k_rope_out is None else k_rope_out,
        _rest_like(q_nope, q_rope, dtype) if q_nope_out is None else q_nope_out,
        _rest_like(k_nope, k_rope, dtype) if k_nope_out is None else k_nope_out,
    )
    kernel.mla_rope_quantize_fp8(
        q_rope,
        k_rope,
        q_nope,
        k_nope,
        cos_sin_cache,
        pos_ids,
        *outs,
        quant_scale_q,
        quant_scale_kv,
        is_neox,
        enable_pdl,
    )
    return outs


@op(
    archs=">=7.5",
    dtypes="f16 bf16",
    devices="cuda emu",
    mutates="paged_kv_cache q_rope_out q_nope_out",
)
def rope_quantize_fp8_append_paged_kv_cache(
    q_rope: torch.Tensor,
    k_rope: torch.Tensor,
    q_nope: torch.Tensor | None,
    k_nope: torch.Tensor | None,
    v: torch.Tensor | None,
    cos_sin_cache: torch.Tensor,
    pos_ids: torch.Tensor,
    paged_kv_cache: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    is_neox: bool = True,
    quantize_dtype: torch.dtype | None = None,
    quant_scale_q: float = 1.0,
    quant_scale_kv: float = 1.0,
    page_size: int = 16,
    kv_layout: str = "NHD",
    q_rope_out: torch.Tensor | None = None,
    q_nope_out: torch.Tensor | None = None,
    enable_pdl: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate and quantize as rope_quantize_fp8, writing keys and values to a paged cache.

    q_rope, k_rope, q_nope, k_nope, cos_sin_cache, pos_ids, is_neox: as in rope_quantize_fp8.
    v: (tokens, kv_heads, dim), multiplied by quant_scale_kv; None for MLA.
    paged_kv_cache: a tuple of keys and of values, (pages, page_size, kv_heads, dim) each, where the
        dim of keys is rope_dim + nope_dim; or one tensor, (pages, 2, page_size, kv_heads, dim). If
        kv_layout is "HND", kv_heads comes before page_size. For MLA a tuple of ckv_cache, (pages,
        page_size, nope_dim), and kpe_cache, (pages, page_size, rope_dim). In fp8.
    kv_indices: (used pages,): the pages of all requests.
    kv_indptr: (requests + 1,): where the pages of each request begin in kv_indices; they have room
        for the new tokens.
    batch_indices: (tokens,): the request of each token; -1 is padding, which is not written.
    positions: (tokens,): the position of each token in its request. These four are int32 or int64.
    quantize_dtype: float8_e4m3fn or float8_e5m2. None: the dtype of the outputs given, or
        float8_e4m3fn.
    quant_scale_q, quant_scale_kv: numbers; results are clamped to the range of fp8.
    page_size: slots of a page.
    kv_layout: "NHD" or "HND".
    q_rope_out, q_nope_out: like their inputs, in fp8. None allocates them.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    dtype = quantize_dtype or _dtype_of(q_rope_out, q_nope_out)
    if q_rope_out is None:
        q_rope_out = _like(q_rope, dtype)
    if q_nope_out is None:
        q_nope_out = _rest_like(q_nope, q_rope, dtype)
    second = None
    if isinstance(paged_kv_cache, tuple):
        paged_kv_cache, second = paged_kv_cache
    kernel.rope_quantize_fp8_append_paged_kv_cache(
        q_rope,
        k_rope,
        q_nope,
        k_nope,
        v,
        cos_sin_cache,
        pos_ids,
        paged_kv_cache,
        second,
        kv_indices,
        kv_indptr,
        batch_indices,
        positions,
        q_rope_out,
        q_nope_out,
        quant_scale_q,
        quant_scale_kv,
        page_size,
        kv_layout,
        is_neox,
        enable_pdl,
    )
    return q_rope_out, q_nope_out


def _dtype_of(*outs: torch.Tensor | None) -> torch.dtype:
    return next((out.dtype for out in outs if out is not None), torch.float8_e4m3fn)


def _like(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty_like(x, dtype=dtype)


def _rest_like(rest: torch.Tensor | None, rotary: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Allocate the output of a part that is not rotated; without that part, an empty tensor."""
    if rest is None:
        return rotary.new_empty((*rotary.shape[:-1], 0), dtype=dtype)
    return torch.empty_like(rest, dtype=dtype)
