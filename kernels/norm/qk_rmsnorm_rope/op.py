"""fused_qk_rmsnorm_rope: what q, k and v go through before the attention of a video model."""

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
    """Normalize q and k of every token over all their heads, turn them by its place in a video.

    Results are rounded once from fp32. v is copied, so that each of the three is contiguous.

    qkv: (tokens, hidden) or (videos, tokens, hidden), contiguous; hidden is the heads of q, then
        of k, then of v. The tokens of a video are its patches: frame by frame, row by row.
    q_weight: (num_heads_q * head_dim,), of qkv's dtype.
    k_weight: (num_heads_k * head_dim,), of qkv's dtype.
    ppf: frames of a video.
    pph: rows of a frame.
    ppw: patches of a row.
    num_frame_channels: how many channels of a head turn with the frame; even.
    num_height_channels: how many, the next, turn with the row; even.
    num_width_channels: how many, the last, turn with the place in it; even.
    num_heads_q: of a token; at most 16384 elements of q, of k and of v.
    num_heads_k: of a token.
    num_heads_v: of a token.
    head_dim: 64, 128 or 256.
    eps: keeps a row of zeros finite.
    base: pair i of n channels turns by base^(-2 i / n) a step.
    interleave: two neighbours are a pair; else a channel and the one half a head further on.
    factor: YARN: slow pairs turn by 1 / factor as fast. 1 is without.
    low: YARN: up to this pair of its channels, none is slowed down.
    high: YARN: from this pair on, all are.
    attention_factor: YARN: what q and k are multiplied by; 1 without it.
    is_qk_norm: whether to normalize and to weight, or only to turn.
    output_fp8: quantize the results to float8_e4m3fn.
    output_quant_scale: then q and k are multiplied by it first.
    v_quant_scale: then v is multiplied by it first.
    q_out: (…, num_heads_q, head_dim), contiguous, where qkv is (…, hidden). None allocates it.
    k_out: the same of k.
    v_out: the same of v.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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
