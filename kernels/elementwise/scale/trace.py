"""Trace of scale."""

from __future__ import annotations

import torch

from fictl.trace import Scalar, Tensor, TraceTemplate, Var


def _reference(input: torch.Tensor, factor: float) -> torch.Tensor:
    return input * factor


scale = TraceTemplate(
    axes={"n": Var("elements, whatever the shape")},
    inputs={"input": Tensor(("n",)), "factor": Scalar("float32", 1.5)},
    outputs={"out": Tensor(("n",), dtype_from="input")},
    reference=_reference,
    extremes=("zeros", "small", "large", "nonfinite"),
    description="Multiply every element by one number.",
)
