"""Trace of rms_norm."""

from __future__ import annotations

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _reference(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(dim=-1, keepdim=True) + eps) * weight


rms_norm = TraceTemplate(
    axes={"rows": Var("changes from call to call"), "hidden": Const("fixed by a model")},
    inputs={
        "x": Tensor(("rows", "hidden")),
        "weight": Tensor(("hidden",), dtype_from="x"),
        "eps": Scalar("float32", 1e-06),
    },
    outputs={"out": Tensor(("rows", "hidden"), dtype_from="x")},
    reference=_reference,
    description="x * rsqrt(mean(x * x) + eps) * weight, row by row.",
)
