"""What rmsnorm computes."""

from __future__ import annotations

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _reference(input: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    mean_square = input.square().mean(dim=-1, keepdim=True)
    return input * torch.rsqrt(mean_square + eps) * weight


rmsnorm = TraceTemplate(
    axes={"rows": Var("tokens, or heads of tokens"), "hidden": Const("values a row", "h")},
    inputs={
        "input": Tensor(("rows", "hidden")),
        "weight": Tensor(("hidden",), dtype_from="input"),
        "eps": Scalar("float32", 1e-6, "keeps a row of zeros finite"),
    },
    outputs={"out": Tensor(("rows", "hidden"), dtype_from="input")},
    reference=_reference,
    extremes=("zeros", "small", "large", "nonfinite"),
    description="Divide every row by the root of its mean square, then multiply it by a weight.",
)
