"""Trace of head_scale."""

from __future__ import annotations

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _reference(x: torch.Tensor, weight: torch.Tensor, factor: float) -> torch.Tensor:
    return x * weight * factor


head_scale = TraceTemplate(
    axes={
        "tokens": Var("changes from call to call"),
        "heads": Const("fixed by a model"),
        "head_dim": Const("fixed by a model"),
    },
    inputs={
        "x": Tensor(("tokens", "heads", "head_dim")),
        "weight": Tensor(("head_dim",), dtype_from="x"),
        "factor": Scalar("float32", 1.5),
    },
    outputs={"out": Tensor(("tokens", "heads", "head_dim"), dtype_from="x")},
    reference=_reference,
    extremes=("zeros", "small", "large", "nonfinite"),
    description="x * weight * factor, element by element.",
)
