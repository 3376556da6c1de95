"""Sizes of rmsnorm that users meet: hidden sizes of models, few rows and many; heads; odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

_SMALL = ((1, 8), (3, 64), (5, 111), (9, 128), (4, 1000), (2, 4098))
_DECODE = (1, 16, 128)
_HIDDEN = (2048, 4096, 5120, 7168, 8192, 16384)
_PREFILL = ((16384, 4096), (4096, 7168), (8192, 8192), (8192, 4098))
_HEADS = ((128 * 40, 128), (4608 * 48, 128))


def cases() -> Iterator[Case]:
    for rows, hidden in _SMALL:
        for dtype in ("float16", "bfloat16", "float32"):
            yield Case("rmsnorm", {"rows": rows, "hidden": hidden}, dtype)
    decode = ((rows, hidden) for rows in _DECODE for hidden in _HIDDEN)
    for rows, hidden in (*decode, *_HEADS, *_PREFILL):
        yield Case("rmsnorm", {"rows": rows, "hidden": hidden}, "bfloat16")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch, "inductor": compiled(_torch), "flashinfer": _flashinfer}


def _torch(input: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return torch.nn.functional.rms_norm(input, weight.shape, weight, eps)


def _flashinfer(
    input: torch.Tensor, weight: torch.Tensor, eps: float
) -> Callable[[], torch.Tensor]:
    flashinfer: Any = import_module("flashinfer")
    out = torch.empty_like(input)
    return lambda: flashinfer.rmsnorm(input, weight, eps, out=out)
