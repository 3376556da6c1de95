"""Sizes of rmsnorm that users meet: hidden sizes of models, few rows and many; heads; odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

_SMALL = ((1, 8), (3, 64), (5, 111), (9, 128), (4, 1000))
_SMALL_ADDED = ((3, 64), (5, 111), (4, 1000))
_SMALL_OTHERS = ((5, 264),)
_DECODE = (1, 16, 128)
_HIDDEN = (2048, 4096, 5120, 7168, 8192, 16384)
_PREFILL = ((16384, 4096), (4096, 7168), (8192, 8192), (8192, 4098))
_HEADS = {(128 * 40, 128): 40, (4608 * 48, 128): 48}  # the heads of a token
_QUANTIZED = ("float16", "bfloat16")
_OTHERS = ((16, 4096), (128, 4096), (128, 8192), (4096, 7168), (16384, 4096))


def cases() -> Iterator[Case]:
    decode = ((rows, hidden) for rows in _DECODE for hidden in _HIDDEN)
    yield from _cases("rmsnorm", _SMALL, (*decode, *_HEADS, *_PREFILL))
    yield from _cases("gemma_rmsnorm", _SMALL_OTHERS, (*_OTHERS, *_HEADS))
    yield from _cases("fused_add_rmsnorm", _SMALL_ADDED, _OTHERS)
    yield from _cases("gemma_fused_add_rmsnorm", _SMALL_OTHERS, _OTHERS)
    yield from _cases("rmsnorm_quant", _SMALL_OTHERS, _OTHERS, _QUANTIZED)
    yield from _cases("fused_add_rmsnorm_quant", _SMALL_OTHERS, _OTHERS, _QUANTIZED)


def _cases(
    function: str,
    small: tuple[tuple[int, int], ...],
    large: tuple[tuple[int, int], ...],
    dtypes: tuple[str, ...] = ("float16", "bfloat16", "float32"),
) -> Iterator[Case]:
    for rows, hidden in small:
        for dtype in dtypes:
            yield Case(function, {"rows": rows, "hidden": hidden}, dtype)
    for rows, hidden in large:
        yield Case(function, {"rows": rows, "hidden": hidden}, "bfloat16")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    torch_one, flashinfer = _BASELINES[function]
    return {"torch": torch_one, "inductor": compiled(torch_one), "flashinfer": flashinfer}


def _rmsnorm(input: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return torch.nn.functional.rms_norm(input, weight.shape, weight, eps)


def _gemma_rmsnorm(input: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return _rmsnorm(input.float(), 1 + weight.float(), eps).to(input.dtype)


def _rmsnorm_quant(
    input: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, eps: float
) -> torch.Tensor:
    most = torch.finfo(torch.float8_e4m3fn).max
    quotient = _rmsnorm(input.float(), weight.float(), eps) / scale
    return quotient.clamp(-most, most).to(torch.float8_e4m3fn)


def _after_add(normalize: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """`normalize` of input + residual, and that sum."""

    def fused(
        input: torch.Tensor, residual: torch.Tensor, **others: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        added = input + residual
        return normalize(added, **others), added

    return fused


def _flashinfer(name: str) -> Callable[..., Callable[[], torch.Tensor]]:
    def prepare(input: torch.Tensor, **others: Any) -> Callable[[], torch.Tensor]:
        function = _of_flashinfer(name)
        out = torch.empty_like(input)
        heads = _HEADS.get((input.shape[0], input.shape[1])) if name == "rmsnorm" else None
        shape = input.shape if heads is None else (-1, heads, input.shape[1])
        seen, written = input.view(shape), out.view(shape)

        def run() -> torch.Tensor:
            function(seen, **others, out=written)
            return out

        return run

    return prepare


def _flashinfer_in_place(name: str) -> Callable[..., Callable[[], tuple[torch.Tensor, ...]]]:
    def prepare(
        input: torch.Tensor, residual: torch.Tensor, **others: Any
    ) -> Callable[[], tuple[torch.Tensor, ...]]:
        function = _of_flashinfer(name)

        def run() -> tuple[torch.Tensor, ...]:
            function(input, residual, **others)
            return input, residual

        return run

    return prepare


def _flashinfer_quant(name: str) -> Callable[..., Callable[[], Any]]:
    def prepare(input: torch.Tensor, **others: Any) -> Callable[[], Any]:
        function = _of_flashinfer(name)
        out = torch.empty_like(input, dtype=torch.float8_e4m3fn)

        def run() -> Any:
            function(out, input, **others)
            return (out, others["residual"]) if "residual" in others else out

        return run

    return prepare


def _of_flashinfer(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(import_module("flashinfer"), name)
    return function


_BASELINES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "rmsnorm": (_rmsnorm, _flashinfer("rmsnorm")),
    "gemma_rmsnorm": (_gemma_rmsnorm, _flashinfer("gemma_rmsnorm")),
    "fused_add_rmsnorm": (_after_add(_rmsnorm), _flashinfer_in_place("fused_add_rmsnorm")),
    "gemma_fused_add_rmsnorm": (
        _after_add(_gemma_rmsnorm),
        _flashinfer_in_place("gemma_fused_add_rmsnorm"),
    ),
    "rmsnorm_quant": (_rmsnorm_quant, _flashinfer_quant("rmsnorm_quant")),
    "fused_add_rmsnorm_quant": (
        _after_add(_rmsnorm_quant),
        _flashinfer_quant("fused_add_rmsnorm_quant"),
    ),
}
