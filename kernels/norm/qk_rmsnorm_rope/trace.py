"""Trace of fused_qk_rmsnorm_rope."""

from __future__ import annotations

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var


def _reference(
    qkv: torch.Tensor,
    q_weight: torch.Tensor,
    k_weight: torch.Tensor,
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
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    heads = (num_heads_q, num_heads_k, num_heads_v)
    exact = torch.promote_types(qkv.dtype, torch.float32)
    q, k, v = torch.split(qkv.to(exact), [count * head_dim for count in heads], dim=-1)
    if is_qk_norm:
        q, k = _normalized(q, q_weight, eps), _normalized(k, k_weight, eps)
    q, k, v = (
        part.view(*qkv.shape[:-1], count, head_dim)
        for part, count in zip((q, k, v), heads, strict=True)
    )
    patch = torch.arange(qkv.shape[:-1].numel(), device=qkv.device) % (ppf * pph * ppw)
    coordinates = (patch // (pph * ppw), patch // ppw % pph, patch % ppw)
    channels = (num_frame_channels, num_height_channels, num_width_channels)
    angles = [
        coordinate[:, None] * _speeds(count, base, factor, low, high, q)
        for coordinate, count in zip(coordinates, channels, strict=True)
    ]
    angle = torch.cat(angles, dim=-1).view(*qkv.shape[:-1], 1, head_dim // 2)
    cos, sin = angle.cos() * attention_factor, angle.sin() * attention_factor
    q, k = _turned(q, cos, sin, interleave), _turned(k, cos, sin, interleave)
    if output_fp8:
        q, k, v = q * output_quant_scale, k * output_quant_scale, v * v_quant_scale
    return q.to(qkv.dtype), k.to(qkv.dtype), v.to(qkv.dtype)


def _normalized(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + eps) * weight


def _speeds(
    channels: int, base: float, factor: float, low: float, high: float, like: torch.Tensor
) -> torch.Tensor:
    """Return the angle per step of each pair of channels."""
    pair = torch.arange(channels // 2, device=like.device, dtype=like.dtype)
    width = high - low if abs(high - low) > 1e-6 else high - low + 1e-3
    ramp = ((pair - low) / width).clamp(0, 1)
    return base ** (-2 * pair / max(channels, 1)) * (1 - ramp + ramp / factor)


def _turned(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleave: bool
) -> torch.Tensor:
    a, b = (x[..., ::2], x[..., 1::2]) if interleave else x.chunk(2, dim=-1)
    turned = (a * cos - b * sin, b * cos + a * sin)
    return torch.stack(turned, -1).flatten(-2) if interleave else torch.cat(turned, -1)


fused_qk_rmsnorm_rope = TraceTemplate(
    axes={
        "tokens": Var("patches of all videos"),
        "ppf": Const("frames of a video"),
        "pph": Const("rows of a frame"),
        "ppw": Const("patches of a row"),
        "num_frame_channels": Const("channels that turn with the frame"),
        "num_height_channels": Const("channels that turn with the row"),
        "num_width_channels": Const("channels that turn with the place in a row"),
        "num_heads_q": Const("heads of q", "h"),
        "num_heads_k": Const("heads of k", "kv"),
        "num_heads_v": Const("heads of v", "v"),
        "head_dim": Const("values a head", "d"),
        "hidden": Expr("(num_heads_q + num_heads_k + num_heads_v) * head_dim", "values a token"),
        "hidden_q": Expr("num_heads_q * head_dim", "values of q"),
        "hidden_k": Expr("num_heads_k * head_dim", "values of k"),
    },
    inputs={
        "qkv": Tensor(("tokens", "hidden")),
        "q_weight": Tensor(("hidden_q",), dtype_from="qkv"),
        "k_weight": Tensor(("hidden_k",), dtype_from="qkv"),
        "ppf": Scalar("int32"),
        "pph": Scalar("int32"),
        "ppw": Scalar("int32"),
        "num_frame_channels": Scalar("int32"),
        "num_height_channels": Scalar("int32"),
        "num_width_channels": Scalar("int32"),
        "num_heads_q": Scalar("int32"),
        "num_heads_k": Scalar("int32"),
        "num_heads_v": Scalar("int32"),
        "head_dim": Scalar("int32"),
        "eps": Scalar("float32", 1e-6, "keeps a row of zeros finite"),
        "base": Scalar("float32", 10000.0, "how much slower the last pair turns than the first"),
        "interleave": Scalar("bool", True, "a pair is two adjacent channels"),
        "factor": Scalar("float32", 4.0, "how much YARN slows the slow pairs down"),
        "low": Scalar("float32", 2.0, "the last pair that YARN leaves alone"),
        "high": Scalar("float32", 9.0, "the first pair that it slows down by the whole factor"),
        "attention_factor": Scalar("float32", 1.25, "on q and k, with YARN"),
        "is_qk_norm": Scalar("bool", True, "normalize and weight q and k"),
        "output_fp8": Scalar("bool", False, "quantize the results"),
        "output_quant_scale": Scalar("float32", 1.0, "then, what q and k are multiplied by"),
        "v_quant_scale": Scalar("float32", 1.0, "then, what v is multiplied by"),
    },
    outputs={
        "q_out": Tensor(("tokens", "num_heads_q", "head_dim"), dtype_from="qkv"),
        "k_out": Tensor(("tokens", "num_heads_k", "head_dim"), dtype_from="qkv"),
        "v_out": Tensor(("tokens", "num_heads_v", "head_dim"), dtype_from="qkv"),
    },
    reference=_reference,
    constraints=(
        "num_frame_channels + num_height_channels + num_width_channels == head_dim",
        "tokens % (ppf * pph * ppw) == 0",
    ),
    extremes=("zeros", "small", "large"),
    description="Normalize q and k over all their heads and turn them by their place in a video.",
)
