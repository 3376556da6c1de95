"""Sizes of fused_rmsnorm_silu that users meet: decoders of video, few channels and many places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

_SMALL = ((1, 8), (5, 111), (9, 160), (3, 1496))
_VIDEO = ((1560, 1024), (6240, 640), (24960, 320), (99840, 160), (99840, 256), (399360, 128))
_TOKENS = ((64, 8192), (16384, 4096))


def cases() -> Iterator[Case]:
    for rows, hidden in _SMALL:
        for dtype in ("float16", "bfloat16"):
            yield Case("fused_rmsnorm_silu", {"rows": rows, "hidden": hidden}, dtype)
    for rows, hidden in (*_VIDEO, *_TOKENS):
        yield Case("fused_rmsnorm_silu", {"rows": rows, "hidden": hidden}, "bfloat16")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch, "inductor": compiled(_torch), "flashinfer": _flashinfer}


def _torch(input: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    normalized = torch.nn.functional.rms_norm(input, weight.shape, weight, eps)
    return torch.nn.functional.silu(normalized)


def _flashinfer(
    input: torch.Tensor, weight: torch.Tensor, eps: float
) -> Callable[[], torch.Tensor]:
    flashinfer: Any = import_module("flashinfer.norm")
    out = torch.empty_like(input)
    return lambda: flashinfer.fused_rmsnorm_silu(input, weight, eps, out=out)
