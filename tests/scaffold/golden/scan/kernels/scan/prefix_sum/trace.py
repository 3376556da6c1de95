"""Trace of prefix_sum."""

from __future__ import annotations

import torch

from fictl.trace import TOLERANCES, Const, Scalar, Tensor, TraceTemplate, Var


def _reference(x: torch.Tensor, exclusive: bool) -> torch.Tensor:
    sums = x.cumsum(-1, dtype=x.dtype)
    if not exclusive:
        return sums
    # Why not sums - x: of an infinity that is NaN.
    return torch.nn.functional.pad(sums[..., :-1], (1, 0))[..., : x.shape[-1]]


prefix_sum = TraceTemplate(
    axes={
        "rows": Var("changes from call to call"),
        "cols": Const("elements of a row"),
    },
    inputs={
        "x": Tensor(("rows", "cols")),
        "exclusive": Scalar("bool", False),
    },
    outputs={"out": Tensor(("rows", "cols"), dtype_from="x")},
    reference=_reference,
    # A sum of many numbers may come near 0, and keeps the rounding of what it was before.
    tolerances={**TOLERANCES, "float32": (1e-5, 5e-4)},
    extremes=("zeros", "small", "nonfinite"),
    description="The prefix sums of each row, inclusive or exclusive.",
)
