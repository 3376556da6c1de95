"""fused_qk_rmsnorm_rope: RMS norm and rotary embedding of q and k in a video model."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16", devices="cuda emu", mutates="q_out k_out v_out")
def fused_qk_rmsnorm_rope(
    qkv: torch.Tensor,
    q_weight: torch.Tensor,
    k_weight: torch.Tensor,
    *,
    ppf: int,
    pph: int,
    ppw: int,
    num_frame_channels: int,
    num_height_channels: int,
    num_width_channels: int,
    num_heads_q: int,
    num_heads_k: int,
    num_heads_v: int,
    head_dim: int,
    eps: float = 1e-6,
    base: float = 10000.0,
    interleave: bool = True,
    factor: float = 1.0,
    low: float = 0.0,
    high: float = 0.0,
    attention_factor: float = 1.0,
    is_qk_norm: bool = True,
    output_fp8: bool = False,
    output_quant_scale: float = 1.0,
    v_quant_scale: float = 1.0,
    q_out: torch.Tensor | None = None,
    k_out: torch.Tensor | None = None,
    v_out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Normalize q and k of every token over all heads, and rotate them by its place in the video.

    Results are rounded once from fp32. v is copied, so that each of the three is contiguous.

    qkv: (tokens, hidden) or (videos, tokens, hidden), contiguous; hidden is the heads of q, then of
        k, then of v. The tokens of a video are its patches: frame by frame, row by row.
    q_weight: (num_heads_q * head_dim,), of qkv's dtype.
    k_weight: (num_heads_k * head_dim,), of qkv's dtype.
    ppf: frames of a video.
    pph: rows of a frame.
    ppw: patches of a row.
    num_frame_channels: number of channels of a head, the first, that rotate with the frame; even.
    num_height_channels: number of channels, the next, that rotate with the row; even.
    num_width_channels: number of channels, the last, that rotate with the place in the row; even.
    num_heads_q: heads of q; q, k and v have at most 16384 elements per token each.
    num_heads_k: heads of k.
    num_heads_v: heads of v.
    head_dim: 64, 128 or 256.
    eps: added to the mean square.
    base: pair i of n channels turns by base^(-2 i / n) a step.
    interleave: a pair is two adjacent channels; otherwise a channel and the one half a head after
        it.
    factor: YARN: slow pairs turn by 1 / factor as fast. 1 is without YARN.
    low: YARN: pairs of the channels up to this one are not slowed down.
    high: YARN: pairs from this one on are slowed down by the whole factor.
    attention_factor: YARN: q and k are multiplied by it; 1 without YARN.
    is_qk_norm: normalize and weight q and k; otherwise only rotate them.
    output_fp8: quantize the results to float8_e4m3fn.
    output_quant_scale: with output_fp8, q and k are multiplied by it first.
    v_quant_scale: with output_fp8, v is multiplied by it first.
    q_out: (…, num_heads_q, head_dim), contiguous, where qkv is (…, hidden). None allocates it.
    k_out: the same for k.
    v_out: the same for v.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    tokens, dtype = qkv.shape[:-1], torch.float8_e4m3fn if output_fp8 else qkv.dtype
    if q_out is None:
        q_out = qkv.new_empty((*tokens, num_heads_q, head_dim), dtype=dtype)
    if k_out is None:
        k_out = qkv.new_empty((*tokens, num_heads_k, head_dim), dtype=dtype)
    if v_out is None:
        v_out = qkv.new_empty((*tokens, num_heads_v, head_dim), dtype=dtype)
    kernel.fused_qk_rmsnorm_rope(
        q_out,
        k_out,
        v_out,
        qkv,
        q_weight,
        k_weight,
        ppf,
        pph,
        ppw,
        num_frame_channels,
        num_height_channels,
        num_width_channels,
        num_heads_q,
        num_heads_k,
        num_heads_v,
        head_dim,
        eps,
        base,
        interleave,
        factor,
        low,
        high,
        attention_factor,
        is_qk_norm,
        output_fp8,
        output_quant_scale,
        v_quant_scale,
        enable_pdl is None or enable_pdl,
    )
    return q_out, k_out, v_out
