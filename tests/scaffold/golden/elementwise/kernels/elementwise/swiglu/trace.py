"""Trace of swiglu."""

from __future__ import annotations

import torch

from fictl.trace import Const, Tensor, TraceTemplate, Var


def _reference(x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
    return x * torch.sigmoid(gate)


swiglu = TraceTemplate(
    axes={"n": Var("changes from call to call"), "d": Const("fixed by a model")},
    inputs={"x": Tensor(("n", "d")), "gate": Tensor(("n", "d"), dtype_from="x")},
    outputs={"out": Tensor(("n", "d"), dtype_from="x")},
    reference=_reference,
    description="x * sigmoid(gate), element by element.",
)
