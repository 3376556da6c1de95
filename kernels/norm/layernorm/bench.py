"""Sizes of layernorm that users meet: hidden sizes of models, few rows and many; odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

_SMALL = ((1, 8), (5, 111), (9, 128), (3, 1500))
_DECODE = ((1, 8192), (64, 8192), (128, 768), (128, 4096))
_PREFILL = ((16384, 768), (16384, 4096), (16384, 8192), (8192, 4098))


def cases() -> Iterator[Case]:
    for rows, hidden in _SMALL:
        for dtype in ("float16", "bfloat16", "float32"):
            yield Case("layernorm", {"rows": rows, "hidden": hidden}, dtype)
        yield Case("layernorm_quant", {"rows": rows, "hidden": hidden}, "float16")
    for function in ("layernorm", "layernorm_quant"):
        for rows, hidden in (*_DECODE, *_PREFILL):
            yield Case(function, {"rows": rows, "hidden": hidden}, "bfloat16")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    if function == "layernorm":
        return {"torch": _torch, "inductor": compiled(_mixed), "flashinfer": _flashinfer}
    return {"torch": _quantized, "inductor": compiled(_quantized), "flashinfer": _flashinfer_quant}


def _torch(
    input: torch.Tensor, gemma: torch.Tensor, beta: torch.Tensor, eps: float
) -> Callable[[], torch.Tensor]:
    """Convert weight and bias to the input's dtype, as torch needs it: work of one row."""

    def run() -> torch.Tensor:
        weight, bias = gemma.to(input.dtype), beta.to(input.dtype)
        return torch.nn.functional.layer_norm(input, weight.shape, weight, bias, eps)

    return run


def _mixed(
    input: torch.Tensor, gemma: torch.Tensor, beta: torch.Tensor, eps: float
) -> torch.Tensor:
    wide = torch.nn.functional.layer_norm(input.float(), gemma.shape, gemma, beta, eps)
    return wide.to(input.dtype)


def _quantized(
    input: torch.Tensor, gemma: torch.Tensor, beta: torch.Tensor, scale: torch.Tensor, eps: float
) -> torch.Tensor:
    wide = torch.nn.functional.layer_norm(input.float(), gemma.shape, gemma, beta, eps) / scale
    limit = torch.finfo(torch.float8_e4m3fn).max
    return wide.clamp(-limit, limit).to(torch.float8_e4m3fn)


def _flashinfer(
    input: torch.Tensor, gemma: torch.Tensor, beta: torch.Tensor, eps: float
) -> Callable[[], torch.Tensor]:
    flashinfer: Any = import_module("flashinfer.norm")
    return lambda: flashinfer.layernorm(input, gemma, beta, eps)


def _flashinfer_quant(
    input: torch.Tensor, gemma: torch.Tensor, beta: torch.Tensor, scale: torch.Tensor, eps: float
) -> Callable[[], torch.Tensor]:
    flashinfer: Any = import_module("flashinfer.norm")
    out = torch.empty_like(input, dtype=torch.float8_e4m3fn)

    def run() -> torch.Tensor:
        flashinfer.layernorm_quant(out, input, gemma, beta, scale, eps)
        return out

    return run
