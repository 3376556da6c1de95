"""Trace of fused_rmsnorm_silu."""

from __future__ import annotations

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _reference(input: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    mean_square = input.square().mean(dim=-1, keepdim=True)
    return torch.nn.functional.silu(input * torch.rsqrt(mean_square + eps) * weight)


fused_rmsnorm_silu = TraceTemplate(
    axes={"rows": Var("tokens, or places of an image"), "hidden": Const("values a row", "h")},
    inputs={
        "input": Tensor(("rows", "hidden")),
        "weight": Tensor(("hidden",), dtype_from="input"),
        "eps": Scalar("float32", 1e-6, "keeps a row of zeros finite"),
    },
    outputs={"out": Tensor(("rows", "hidden"), dtype_from="input")},
    reference=_reference,
    extremes=("zeros", "small", "large", "nonfinite"),
    description="rmsnorm of every row, then silu: x * sigmoid(x).",
)
