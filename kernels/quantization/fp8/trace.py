"""Traces of per_token_group_quant_8bit and per_tensor_quant_fp8, in float8_e4m3fn."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var


def _in_range(x: torch.Tensor) -> torch.Tensor:
    most = torch.finfo(torch.float8_e4m3fn).max
    return x.clamp(-most, most)


def _groups(
    x: torch.Tensor,
    group_size: int,
    eps: float,
    column_major_scales: bool,
    scale_tma_aligned: bool,
    scale_ue8m0: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the values; the layout of the scales does not change them."""
    groups = x.reshape(*x.shape[:-1], x.shape[-1] // group_size, group_size)
    scales = groups.abs().amax(-1).clamp(min=eps) / torch.finfo(torch.float8_e4m3fn).max
    if scale_ue8m0:
        scales = torch.exp2(torch.ceil(torch.log2(scales.clamp(min=1e-10))))
    return _in_range(groups / scales.unsqueeze(-1)).reshape(x.shape), scales


def _tensor(x: torch.Tensor, scale: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    if scale is None:
        largest = x.abs().amax() if x.numel() else x.new_zeros(())
        scale = largest.clamp(min=1e-10).reshape(1) / torch.finfo(torch.float8_e4m3fn).max
    return _in_range(x / scale), scale


def _init_scale(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make a scale with which the largest normal random numbers are out of range."""
    return {"scale": torch.full((sizes["one"],), 0.006, device=device)}


per_token_group_quant_8bit = TraceTemplate(
    axes={
        "rows": Var("tokens"),
        "hidden": Const("values a token", "h"),
        "group_size": Const("adjacent elements with one scale", "g"),
        "groups": Expr("hidden // group_size", "scales a token"),
    },
    inputs={
        "x": Tensor(("rows", "hidden")),
        "group_size": Scalar("int32", 128),
        "eps": Scalar("float32", 1e-10, "keeps the scale of zeros from being 0"),
        "column_major_scales": Scalar("bool", False, "columns of scales are contiguous"),
        "scale_tma_aligned": Scalar("bool", False, "columns at a multiple of 16 bytes"),
        "scale_ue8m0": Scalar("bool", False, "scales are powers of two"),
    },
    outputs={
        "out": Tensor(("rows", "hidden"), dtype="float8_e4m3fn"),
        "scales": Tensor(("rows", "groups"), dtype="float32"),
    },
    constraints=("hidden % group_size == 0",),
    reference=_groups,
    extremes=("zeros", "small", "large", "nonfinite"),
    description="Divide each group of a token's values by a scale of its own, to eight bits.",
)

per_tensor_quant_fp8 = TraceTemplate(
    axes={
        "n": Var("elements, whatever the shape"),
        "one": Const("a scale is one number", value=1),
    },
    inputs={
        "x": Tensor(("n",)),
        "scale": Tensor(("one",), dtype="float32", optional=True, doc="what x is divided by"),
    },
    outputs={
        "out": Tensor(("n",), dtype="float8_e4m3fn"),
        "out_scale": Tensor(("one",), dtype="float32"),
    },
    reference=_tensor,
    init=_init_scale,
    extremes=("zeros", "small", "large", "nonfinite"),
    description="Divide a tensor by a scale, given or by its largest value, to eight bits.",
)
