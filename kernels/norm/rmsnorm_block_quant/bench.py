"""Sizes of fused_add_rmsnorm_fp8_block_quant that users meet: a decode step to a prefill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

_SMALL = (((1, 128), "float16"), ((6, 384), "bfloat16"))
_SIZES = (
    *((rows, 7168) for rows in (1, 16, 64, 128, 1024, 4096, 16384)),
    *((rows, 4096) for rows in (1, 128, 4096)),
    (4096, 16384),
)


def cases() -> Iterator[Case]:
    for sizes, dtype in _SMALL:
        yield _case(*sizes, dtype)
    for sizes in _SIZES:
        yield _case(*sizes, "bfloat16")


def _case(rows: int, hidden: int, dtype: str) -> Case:
    return Case("fused_add_rmsnorm_fp8_block_quant", {"rows": rows, "hidden": hidden}, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch, "inductor": compiled(_torch), "flashinfer": _flashinfer}


def _torch(
    input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, ...]:
    added = input.float() + residual.float()
    normed = torch.nn.functional.rms_norm(added, weight.shape, weight.float(), eps)
    blocks = normed.view(len(input), -1, 128)
    scales = blocks.abs().amax(-1).clamp(min=1e-4) / 448.0
    out = (blocks / scales.unsqueeze(-1)).flatten(-2).to(torch.float8_e4m3fn)
    padded = torch.nn.functional.pad(scales.t(), (0, -len(input) % 4))
    return out, padded, normed.to(input.dtype), added.to(input.dtype)


def _flashinfer(
    input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> Callable[[], tuple[torch.Tensor, ...]]:
    function: Any = import_module("flashinfer.norm").fused_add_rmsnorm_fp8_block_quant
    rows, hidden = input.shape
    out = torch.empty_like(input, dtype=torch.float8_e4m3fn)
    # Zeros, as it leaves the padding as it is.
    scales = torch.zeros((hidden // 128, -(-rows // 4) * 4), device=input.device)
    normed = torch.empty_like(input)

    def run() -> tuple[torch.Tensor, ...]:
        function(out, scales, normed, input, residual, weight, eps)
        return out, scales, normed, residual

    return run
