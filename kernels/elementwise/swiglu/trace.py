"""Trace of swiglu."""

from __future__ import annotations

import torch

from fictl.trace import Tensor, TraceTemplate, Var


def _reference(x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
    return x * torch.sigmoid(gate)


swiglu = TraceTemplate(
    axes={"n": Var("elements, whatever the shape")},
    inputs={"x": Tensor(("n",)), "gate": Tensor(("n",), dtype_from="x")},
    outputs={"out": Tensor(("n",), dtype_from="x")},
    reference=_reference,
    extremes=("zeros", "small", "large", "nonfinite"),
    description="Multiply by the sigmoid of a gate.",
)
