"""Trace of l2_norm."""

from __future__ import annotations

import torch

from fictl.trace import Const, Tensor, TraceTemplate, Var


def _reference(x: torch.Tensor) -> torch.Tensor:
    return torch.sqrt((x * x).sum(dim=-1))


l2_norm = TraceTemplate(
    axes={"rows": Var("changes from call to call"), "cols": Const("fixed by a model")},
    inputs={"x": Tensor(("rows", "cols"))},
    outputs={"out": Tensor(("rows",), dtype_from="x")},
    reference=_reference,
    description="sqrt(sum(x * x)), of every row.",
)
