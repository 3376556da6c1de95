"""Layers for Hugging Face's kernels, of the exported functions: `fictl export-op --to hf-kernel`."""

from __future__ import annotations

import torch

from . import gelu_and_mul, gelu_tanh_and_mul, silu_and_mul  # type: ignore[attr-defined]


def _half_of(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty((*x.shape[:-1], x.shape[-1] // 2))


class SiluAndMul(torch.nn.Module):
    """Silu of the first half of the last dimension, times the second half."""

    can_torch_compile = False
    has_backward = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = _half_of(x)
        silu_and_mul(out, x, True)
        return out


class GeluAndMul(torch.nn.Module):
    """Gelu of the first half of the last dimension, times the second half."""

    can_torch_compile = False
    has_backward = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = _half_of(x)
        gelu_and_mul(out, x, True)
        return out


class GeluTanhAndMul(torch.nn.Module):
    """Gelu, approximated by tanh, of the first half of the last dimension, times the second half."""

    can_torch_compile = False
    has_backward = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = _half_of(x)
        gelu_tanh_and_mul(out, x, True)
        return out
