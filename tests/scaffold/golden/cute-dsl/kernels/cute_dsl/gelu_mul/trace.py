"""Trace of gelu_mul."""

from __future__ import annotations

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _reference(x: torch.Tensor, gate: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.nn.functional.gelu(x) * gate * factor


gelu_mul = TraceTemplate(
    axes={"n": Var("changes from call to call"), "d": Const("fixed by a model")},
    inputs={
        "x": Tensor(("n", "d")),
        "gate": Tensor(("n", "d"), dtype_from="x"),
        "factor": Scalar("float32", 1.5),
    },
    outputs={"out": Tensor(("n", "d"), dtype_from="x")},
    reference=_reference,
    description="gelu(x) * gate * factor, element by element.",
)
