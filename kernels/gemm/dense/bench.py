"""Products that users meet: large squares, linear layers of models, few tokens, odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

_SMALL = ((1, 8, 16), (5, 33, 24), (70, 130, 72))
_PREFILL = (
    (8192, 8192, 8192),
    (4096, 4096, 4096),
    (4096, 14336, 4096),
    (2048, 2048, 8192),
    (1024, 4096, 4096),
    (3000, 5000, 1111),
)
_DECODE = ((64, 8192, 8192), (16, 28672, 8192), (1, 8192, 8192), (8, 7168, 2048))
_LINEAR = ((4096, 14336, 4096), (64, 8192, 8192))


def cases() -> Iterator[Case]:
    for dtype in ("bfloat16", "float16"):
        for shape in _SMALL:
            yield Case("dense", _sizes(*shape), dtype)
    yield Case("dense", _sizes(70, 130, 72), "bfloat16", passing=("bias", "c"))
    yield Case("linear_silu", _sizes(70, 130, 72), "bfloat16", passing=("bias",))
    yield Case("mm_bf16", _sizes(5, 33, 24), "bfloat16")
    yield Case("mm_bf16", _sizes(70, 130, 72), "bfloat16", passing=("bias",))
    yield Case("bmm_bf16", {"batch": 3, **_sizes(20, 40, 24)}, "bfloat16")
    yield Case("gemm_alpha_beta", _sizes(20, 40, 24), "bfloat16")
    for shape in (*_PREFILL, *_DECODE):
        yield Case("mm_bf16", _sizes(*shape), "bfloat16")
    for shape in _LINEAR:
        yield Case("mm_bf16", _sizes(*shape), "bfloat16", passing=("bias",))
        yield Case("linear_silu", _sizes(*shape), "bfloat16", passing=("bias",))
        yield Case("dense", _sizes(*shape), "float16", passing=("bias",))
    yield Case("bmm_bf16", {"batch": 128, **_sizes(128, 128, 512)}, "bfloat16")


def _sizes(m: int, n: int, k: int) -> dict[str, int]:
    return {"m": m, "n": n, "k": k}


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    by_torch = _BY_TORCH[function]
    return {
        "torch": by_torch,
        "inductor": compiled(by_torch),
        "flashinfer": lambda **inputs: _flashinfer(function, inputs),
    }


def _dense(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor | None,
    bias: torch.Tensor | None,
    alpha: float,
    beta: float,
) -> torch.Tensor:
    result = alpha * torch.nn.functional.linear(a, b, bias)
    return result if c is None else result + beta * c


def _linear_silu(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
) -> torch.Tensor:
    return torch.nn.functional.silu(torch.nn.functional.linear(input, weight, bias))


def _mm(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    return a @ b if bias is None else torch.addmm(bias, a, b)


def _bmm(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:  # noqa: N803 FlashInfer's names
    return torch.bmm(A, B)


def _alpha_beta(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    trans_a: bool,
    trans_b: bool,
    alpha: float,
    beta: float,
) -> torch.Tensor:
    left = a.mT if trans_a else a
    return torch.addmm(c, left, b.mT if trans_b else b, alpha=alpha, beta=beta, out=c)


_BY_TORCH: dict[str, Callable[..., Any]] = {
    "dense": _dense,
    "linear_silu": _linear_silu,
    "mm_bf16": _mm,
    "bmm_bf16": _bmm,
    "gemm_alpha_beta": _alpha_beta,
}


def _flashinfer(function: str, inputs: dict[str, Any]) -> Callable[[], Any]:
    theirs = getattr(import_module("flashinfer"), function)
    return lambda: theirs(**inputs)
