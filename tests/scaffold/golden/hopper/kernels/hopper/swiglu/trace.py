"""Trace of swiglu."""

from __future__ import annotations

import torch

from fictl.trace import Const, Tensor, TraceTemplate, Var


def _reference(x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
    return x * torch.sigmoid(gate)


swiglu = TraceTemplate(
    axes={"rows": Var("changes from call to call"), "cols": Const("fixed by a model")},
    inputs={"x": Tensor(("rows", "cols")), "gate": Tensor(("rows", "cols"), dtype_from="x")},
    outputs={"out": Tensor(("rows", "cols"), dtype_from="x")},
    reference=_reference,
    constraints=("cols % 8 == 0",),
    description="x * sigmoid(gate), element by element.",
)
