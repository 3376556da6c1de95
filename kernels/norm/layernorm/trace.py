"""Traces of layernorm and layernorm_quant."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _reference(
    input: torch.Tensor, gemma: torch.Tensor, beta: torch.Tensor, eps: float
) -> torch.Tensor:
    centred = input - input.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred * torch.rsqrt(variance + eps) * gemma + beta


def _quantized(
    input: torch.Tensor, gemma: torch.Tensor, beta: torch.Tensor, scale: torch.Tensor, eps: float
) -> torch.Tensor:
    return _reference(input, gemma, beta, eps) / scale


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make weights that 16 bits hold exactly, as trained weights are."""
    gamma, beta = torch.randn((2, sizes["hidden"]), device=device, generator=generator)
    return {"gemma": gamma.bfloat16().float(), "beta": beta.bfloat16().float()}


def _init_quantized(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    scale = torch.full((1,), 0.25, device=device)
    return {**_init(sizes, dtype, device, generator), "scale": scale}


_TOKENS = Var("tokens")
_HIDDEN = Const("values a row", "h")
_ROWS = Tensor(("rows", "hidden"))
_WEIGHT = Tensor(("hidden",), dtype="float32", doc="the weight, often called gamma")
_BIAS = Tensor(("hidden",), dtype="float32", doc="the bias")
_EPS = Scalar("float32", 1e-6, "keeps a row of equal values finite")

layernorm = TraceTemplate(
    axes={"rows": _TOKENS, "hidden": _HIDDEN},
    inputs={"input": _ROWS, "gemma": _WEIGHT, "beta": _BIAS, "eps": _EPS},
    outputs={"out": Tensor(("rows", "hidden"), dtype_from="input")},
    reference=_reference,
    init=_init,
    extremes=("zeros", "small", "nonfinite"),
    description="Take every row's mean away, divide it by its deviation; then a weight and a bias.",
)

layernorm_quant = TraceTemplate(
    axes={"rows": _TOKENS, "hidden": _HIDDEN, "one": Const("numbers of a scale", value=1)},
    inputs={
        "input": _ROWS,
        "gemma": _WEIGHT,
        "beta": _BIAS,
        "scale": Tensor(("one",), dtype="float32", doc="what one step of out stands for"),
        "eps": _EPS,
    },
    outputs={"out": Tensor(("rows", "hidden"), dtype="float8_e4m3fn")},
    reference=_quantized,
    init=_init_quantized,
    extremes=("zeros", "small"),
    description="layernorm, divided by a scale and rounded to fp8.",
)
