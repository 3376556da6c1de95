"""Traces of the gated activations."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.nn import functional

from fictl.trace import Const, Expr, Tensor, TraceTemplate, Var


def _silu(input: torch.Tensor) -> torch.Tensor:
    gate, up = input.chunk(2, dim=-1)
    return functional.silu(gate) * up


def _gelu(input: torch.Tensor) -> torch.Tensor:
    gate, up = input.chunk(2, dim=-1)
    return functional.gelu(gate) * up


def _gelu_tanh(input: torch.Tensor) -> torch.Tensor:
    gate, up = input.chunk(2, dim=-1)
    return functional.gelu(gate, approximate="tanh") * up


_AXES: Mapping[str, Var | Const | Expr] = {
    "rows": Var("tokens"),
    "width": Const("values of gate and up, side by side", "w"),
    "hidden": Expr("width // 2", "values a row of the result"),
}
_INPUTS = {"input": Tensor(("rows", "width"))}
_OUTPUTS = {"out": Tensor(("rows", "hidden"), dtype_from="input")}
_CONSTRAINTS = ("width % 2 == 0",)
_EXTREMES = ("zeros", "small", "large", "nonfinite")

silu_and_mul = TraceTemplate(
    axes=_AXES,
    inputs=_INPUTS,
    outputs=_OUTPUTS,
    reference=_silu,
    constraints=_CONSTRAINTS,
    extremes=_EXTREMES,
    description="Multiply one half of every row by silu of the other.",
)

gelu_and_mul = TraceTemplate(
    axes=_AXES,
    inputs=_INPUTS,
    outputs=_OUTPUTS,
    reference=_gelu,
    constraints=_CONSTRAINTS,
    extremes=_EXTREMES,
    description="Multiply one half of every row by gelu of the other.",
)

gelu_tanh_and_mul = TraceTemplate(
    axes=_AXES,
    inputs=_INPUTS,
    outputs=_OUTPUTS,
    reference=_gelu_tanh,
    constraints=_CONSTRAINTS,
    extremes=_EXTREMES,
    description="Multiply one half of every row by gelu, approximated by tanh, of the other.",
)
