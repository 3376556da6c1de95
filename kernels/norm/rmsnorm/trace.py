"""Traces of rmsnorm and its variants."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _rmsnorm(input: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    mean_square = input.square().mean(dim=-1, keepdim=True)
    return input * torch.rsqrt(mean_square + eps) * weight


def _gemma_rmsnorm(input: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return _rmsnorm(input, 1 + weight, eps)


def _fused_add_rmsnorm(
    input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    added = input + residual
    return _rmsnorm(added, weight, eps), added


def _gemma_fused_add_rmsnorm(
    input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    return _fused_add_rmsnorm(input, residual, 1 + weight, eps)


def _rmsnorm_quant(
    input: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, eps: float
) -> torch.Tensor:
    return _rmsnorm(input, weight, eps) / scale


def _fused_add_rmsnorm_quant(
    input: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    out, added = _fused_add_rmsnorm(input, residual, weight, eps)
    return out / scale, added


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make a scale that leaves some values beyond the range of fp8."""
    return {"scale": torch.full((1,), 2.0**-7, device=device)}


_AXES: dict[str, Const | Var] = {
    "rows": Var("tokens, or heads of tokens"),
    "hidden": Const("values a row", "h"),
}
_AND_ONE: dict[str, Const | Var] = {**_AXES, "one": Const("one number", value=1)}
_ROWS = ("rows", "hidden")
_INPUT = {"input": Tensor(_ROWS)}
_RESIDUAL = {"residual": Tensor(_ROWS, dtype_from="input")}
_WEIGHT = {"weight": Tensor(("hidden",), dtype_from="input")}
_SCALE = {"scale": Tensor(("one",), dtype="float32", doc="what the result is divided by")}
_EPS = {"eps": Scalar("float32", 1e-6, "keeps a row of zeros finite")}
_OUT = {"out": Tensor(_ROWS, dtype_from="input")}
_EXTREMES = ("zeros", "small", "large", "nonfinite")
_QUANTIZED = {"out": Tensor(_ROWS, dtype="float8_e4m3fn")}

rmsnorm = TraceTemplate(
    axes=_AXES,
    inputs={**_INPUT, **_WEIGHT, **_EPS},
    outputs=_OUT,
    reference=_rmsnorm,
    extremes=_EXTREMES,
    description="Divide every row by the root of its mean square, then multiply it by a weight.",
)
gemma_rmsnorm = TraceTemplate(
    axes=_AXES,
    inputs={**_INPUT, **_WEIGHT, **_EPS},
    outputs=_OUT,
    reference=_gemma_rmsnorm,
    extremes=_EXTREMES,
    description="Divide every row by the root of its mean square, then multiply it by 1 + weight.",
)
fused_add_rmsnorm = TraceTemplate(
    axes=_AXES,
    inputs={**_INPUT, **_RESIDUAL, **_WEIGHT, **_EPS},
    outputs={**_INPUT, **_RESIDUAL},
    reference=_fused_add_rmsnorm,
    extremes=_EXTREMES,
    description="Add the input to a residual, then normalize the sum into the input.",
)
gemma_fused_add_rmsnorm = TraceTemplate(
    axes=_AXES,
    inputs={**_INPUT, **_RESIDUAL, **_WEIGHT, **_EPS},
    outputs={**_INPUT, **_RESIDUAL},
    reference=_gemma_fused_add_rmsnorm,
    extremes=_EXTREMES,
    description="Add the input to a residual, then normalize the sum into the input, by 1 + weight.",
)
rmsnorm_quant = TraceTemplate(
    axes=_AND_ONE,
    inputs={**_INPUT, **_WEIGHT, **_SCALE, **_EPS},
    outputs=_QUANTIZED,
    reference=_rmsnorm_quant,
    extremes=_EXTREMES,
    init=_init,
    description="Divide every row by the root of its mean square, then quantize it to fp8.",
)
fused_add_rmsnorm_quant = TraceTemplate(
    axes=_AND_ONE,
    inputs={**_INPUT, **_RESIDUAL, **_WEIGHT, **_SCALE, **_EPS},
    outputs={**_QUANTIZED, **_RESIDUAL},
    reference=_fused_add_rmsnorm_quant,
    extremes=_EXTREMES,
    init=_init,
    description="Add the input to a residual, then normalize the sum and quantize it to fp8.",
)
