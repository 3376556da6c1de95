"""Attention of one request, planned and run in one call: an op made of the kernels of prefill."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from fictl.op import op

from ...quantization.packbits.op import packbits
from .._arguments.cache import is_hnd
from .._arguments.dtypes import Dtypes
from .._arguments.head_scales import Scale, head_scales
from .._arguments.numbers import Number, scale
from .._arguments.options import Heads, options
from .._arguments.refusals import refuse_given
from .._backends import PREFILL, check_backend
from .._config import EIGHTHS
from .._variant.variant import Variant
from ..prefill.op import BatchPrefillWithPagedKVCacheWrapper
from .attend import attend_one, mask_of_one, shape_of_keys

# Kernels for any number of queries.
_KERNEL = BatchPrefillWithPagedKVCacheWrapper.kernel


@op(
    archs=">=8.0",
    dtypes="f16 bf16 e4m3 e5m2",
    devices="cuda emu",
    mutates="out lse",
    uses="BatchPrefillWithPagedKVCacheWrapper packbits",
)
def single_prefill_with_kv_cache(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale_q: Scale | None = None,
    scale_k: Scale | None = None,
    scale_v: Scale | None = None,
    o_dtype: torch.dtype | None = None,
    custom_mask: torch.Tensor | None = None,
    packed_custom_mask: torch.Tensor | None = None,
    causal: bool = False,
    kv_layout: str = "NHD",
    pos_encoding_mode: str = "NONE",
    use_fp16_qk_reduction: bool = False,
    sm_scale: float | None = None,
    window_left: int = -1,
    logits_soft_cap: float | None = None,
    rope_scale: float | None = None,
    rope_theta: float | None = None,
    backend: str = "auto",
    return_lse: bool = False,
    kv_cache_sf: tuple[torch.Tensor, torch.Tensor] | None = None,
    k_scale: Number | None = None,
    v_scale: Number | None = None,
    *,
    out: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    variant: Variant | None = None,
    scalars: Mapping[str, float] | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attention of one request's queries, which are the last of its keys; without keys it is 0.

    q: (qo_len, num_qo_heads, head_dim), fp16, bf16 or fp8; head_dim is a multiple of 8 up to 512, or
        of 16 where keys are of fp8. q, k, v and out: last dimension contiguous, any stride for tokens
        and heads.
    k, v: (kv_len, num_kv_heads, head_dim), or (num_kv_heads, kv_len, head_dim) where kv_layout is
        "HND"; of q's dtype, or fp8. num_qo_heads is a multiple of num_kv_heads. Heads of values may
        be of another size, which is that of out.
    scale_q, scale_k, scale_v: of q, k and v of fp8: (num_qo_heads,) and (num_kv_heads,) of fp32, or
        (1,) or a number for all heads. None is 1.
    o_dtype: dtype of out, fp16 or bf16. None is q's, and fp16 where q is of fp8.
    custom_mask: (qo_len, kv_len), bool: the keys that each query sees, whatever causal says.
    packed_custom_mask: the same in bits, as packbits(custom_mask.view(-1), "little") packs them.
    causal: a query sees no keys after its own.
    pos_encoding_mode: "NONE"; "ROPE_LLAMA", by which queries and keys are rotated; or "ALIBI".
    use_fp16_qk_reduction: ignored; scores are summed in fp32.
    sm_scale: factor of the scores before the softmax. None is head_dim^-0.5.
    window_left: how many keys before its own a query sees. -1 is all.
    logits_soft_cap: scores s become cap * tanh(s / cap). None or 0 leaves them.
    rope_scale, rope_theta: 1 and 10000 where they are not given.
    backend: "fa2" has the kernels of mma.sync, for any GPU from sm_80 on, "fa3" those of Hopper,
        and "auto" chooses.
    return_lse: return (out, lse).
    k_scale, v_scale: further factors of scores and of out: numbers, or tensors of one element, which
        are waited for.
    out: (qo_len, num_qo_heads, head_dim of v). None allocates it.
    lse: (qo_len, num_qo_heads), fp32: log2 of the sum of the exponentials; -inf where a query sees
        no key. None allocates it if asked for.
    sinks: (num_qo_heads,): the logit of a key without a value.
    variant: what define_variant() returned, and `scalars` its values by name.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    name = "single_prefill_with_kv_cache"
    check_backend(name, backend, PREFILL)
    refuse_given(name, "caches of 4 bits are not here", kv_cache_sf=kv_cache_sf)
    hnd = is_hnd(name, kv_layout)
    kv_len, kv_heads = shape_of_keys(name, q, k, hnd)
    chosen = options(
        name,
        Heads(q.shape[1], kv_heads, q.shape[2], v.shape[-1] if v.ndim else 0),
        Dtypes(q.dtype, k.dtype, o_dtype or (torch.float16 if q.dtype in EIGHTHS else q.dtype)),
        causal=causal,
        window_left=window_left,
        soft_cap=logits_soft_cap,
        sm_scale=sm_scale,
        rope_scale=rope_scale,
        rope_theta=rope_theta,
        positions=pos_encoding_mode,
    )
    out, written = attend_one(
        name,
        _KERNEL,
        chosen,
        q,
        k,
        v,
        hnd=hnd,
        why=f"{q.shape[0]} queries of {chosen.group} heads each",
        backend=backend,
        mask=mask_of_one(name, q.shape[0], kv_len, custom_mask, packed_custom_mask, packbits),
        head_scales=head_scales(name, q, scale_q, scale_k, scale_v),
        scale=scale(name, k_scale=k_scale),
        v_scale=scale(name, v_scale=v_scale),
        out=out,
        lse=lse,
        return_lse=return_lse,
        sinks=sinks,
        variant=variant,
        scalars=scalars,
        enable_pdl=enable_pdl,
    )
    return out if written is None else (out, written)


@op(
    archs=">=8.0",
    dtypes="f16 bf16 e4m3 e5m2",
    devices="cuda emu",
    mutates="out lse",
    uses="BatchPrefillWithPagedKVCacheWrapper packbits",
)
def single_prefill_with_kv_cache_return_lse(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale_q: Scale | None = None,
    scale_k: Scale | None = None,
    scale_v: Scale | None = None,
    o_dtype: torch.dtype | None = None,
    custom_mask: torch.Tensor | None = None,
    packed_custom_mask: torch.Tensor | None = None,
    causal: bool = False,
    kv_layout: str = "NHD",
    pos_encoding_mode: str = "NONE",
    use_fp16_qk_reduction: bool = False,
    sm_scale: float | None = None,
    window_left: int = -1,
    logits_soft_cap: float | None = None,
    rope_scale: float | None = None,
    rope_theta: float | None = None,
    backend: str = "auto",
    *,
    return_lse: bool = True,
    kv_cache_sf: tuple[torch.Tensor, torch.Tensor] | None = None,
    k_scale: Number | None = None,
    v_scale: Number | None = None,
    out: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    variant: Variant | None = None,
    scalars: Mapping[str, float] | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """single_prefill_with_kv_cache, returning (out, lse)."""
    return single_prefill_with_kv_cache(
        q,
        k,
        v,
        scale_q,
        scale_k,
        scale_v,
        o_dtype,
        custom_mask,
        packed_custom_mask,
        causal,
        kv_layout,
        pos_encoding_mode,
        use_fp16_qk_reduction,
        sm_scale,
        window_left,
        logits_soft_cap,
        rope_scale,
        rope_theta,
        backend,
        return_lse,
        kv_cache_sf,
        k_scale,
        v_scale,
        out=out,
        lse=lse,
        sinks=sinks,
        variant=variant,
        scalars=scalars,
        enable_pdl=enable_pdl,
    )


@op(
    archs=">=8.0",
    dtypes="f16 bf16 e4m3 e5m2",
    devices="cuda emu",
    mutates="out lse",
    uses="BatchPrefillWithPagedKVCacheWrapper",
)
def single_decode_with_kv_cache(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    kv_layout: str = "NHD",
    pos_encoding_mode: str = "NONE",
    use_tensor_cores: bool = False,
    q_scale: Number | None = None,
    k_scale: Number | None = None,
    v_scale: Number | None = None,
    window_left: int = -1,
    logits_soft_cap: float | None = None,
    sm_scale: float | None = None,
    rope_scale: float | None = None,
    rope_theta: float | None = None,
    return_lse: bool = False,
    *,
    out: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    variant: Variant | None = None,
    scalars: Mapping[str, float] | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attention of one query, whose key is the last.

    q: (num_qo_heads, head_dim), fp16 or bf16; head_dim is a multiple of 8 up to 512, or of 16 where
        keys are of fp8. q, k, v and out: last dimension contiguous, any stride for tokens and heads.
    k, v: (kv_len, num_kv_heads, head_dim), or (num_kv_heads, kv_len, head_dim) where kv_layout is
        "HND"; of q's dtype, or fp8. num_qo_heads is a multiple of num_kv_heads. Heads of values may
        be of another size, which is that of out.
    use_tensor_cores: ignored; tensor cores are faster for any number of heads.
    q_scale, k_scale, v_scale: further factors, of scores and of out: numbers, or tensors of one
        element, which are waited for.
    return_lse: return (out, lse).
    out: (num_qo_heads, head_dim of v). None allocates it.
    lse: (num_qo_heads,), fp32. None allocates it if asked for. The other arguments are
        single_prefill_with_kv_cache's.
    """
    name = "single_decode_with_kv_cache"
    hnd = is_hnd(name, kv_layout)
    if q.ndim != 2:
        raise ValueError(
            f"{name}: argument 'q' has shape {tuple(q.shape)}; it is (heads, head_dim)"
        )
    queries = q.unsqueeze(0)
    _, kv_heads = shape_of_keys(name, queries, k, hnd)
    chosen = options(
        name,
        Heads(q.shape[0], kv_heads, q.shape[1], v.shape[-1] if v.ndim else 0),
        Dtypes(q.dtype, k.dtype, q.dtype),
        causal=False,
        window_left=window_left,
        soft_cap=logits_soft_cap,
        sm_scale=sm_scale,
        rope_scale=rope_scale,
        rope_theta=rope_theta,
        positions=pos_encoding_mode,
    )
    outs, sums = attend_one(
        name,
        _KERNEL,
        chosen,
        queries,
        k,
        v,
        hnd=hnd,
        why=f"{chosen.group} heads to one of the keys",
        scale=scale(name, q_scale=q_scale, k_scale=k_scale),
        v_scale=scale(name, v_scale=v_scale),
        out=None if out is None else out.unsqueeze(0),
        lse=None if lse is None else lse.unsqueeze(0),
        return_lse=return_lse,
        sinks=sinks,
        variant=variant,
        scalars=scalars,
        enable_pdl=enable_pdl,
    )
    result = outs[0] if out is None else out
    if sums is None:
        return result
    return result, sums[0] if lse is None else lse
