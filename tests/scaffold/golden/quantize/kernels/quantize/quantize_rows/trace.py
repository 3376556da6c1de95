"""Trace of quantize_rows."""

from __future__ import annotations

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var

LARGEST = 448.0  # of float8_e4m3fn
LEAST = 1e-10


def _reference(x: torch.Tensor, group_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    groups = x.reshape(rows, cols // group_size, group_size)
    scales = groups.abs().amax(-1).clamp(min=LEAST) / LARGEST
    values = (groups / scales[..., None]).clamp(-LARGEST, LARGEST)
    return values.reshape(rows, cols), scales


quantize_rows = TraceTemplate(
    axes={
        "tokens": Var("changes from call to call"),
        "hidden": Const("fixed by a model"),
        "group_size": Const("elements with one scale", "g"),
        "groups": Expr("hidden // group_size", "scales of a row"),
    },
    inputs={
        "x": Tensor(("tokens", "hidden")),
        "group_size": Scalar("int32", 128),
    },
    outputs={
        "q": Tensor(("tokens", "hidden"), dtype="float8_e4m3fn"),
        "scales": Tensor(("tokens", "groups"), dtype="float32"),
    },
    reference=_reference,
    constraints=("group_size > 0", "hidden % group_size == 0"),
    extremes=("zeros", "small", "large", "nonfinite"),
    description="Quantize groups of rows to float8_e4m3fn, with a scale for each.",
)
