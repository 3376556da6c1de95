"""Factors of scores and of values: numbers, or tensors of one element that are read on the device."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from .._arguments.numbers import Number, number

_LN2 = math.log(2.0)


class Scales(NamedTuple):
    """Factors as kernels take them. Those of q, k and v are tensors of fp32, and None is 1."""

    of_scores: float
    of_values: float
    q: torch.Tensor | None = None
    k: torch.Tensor | None = None
    v: torch.Tensor | None = None

    @property
    def tensors(self) -> tuple[torch.Tensor | None, ...]:
        """Factors of queries, of keys, or all of scores, and of values."""
        return self.q, self.k, self.v

    @property
    def on_device(self) -> bool:
        """Tell whether a factor is on the device."""
        return self.q is not None or self.k is not None or self.v is not None


def fused(
    op: str,
    bmm1_scale: Number,
    bmm2_scale: Number,
    bmm1_scale_log2: torch.Tensor | None = None,
) -> Scales:
    """Read the factors of FlashInfer's fused calls; `bmm1_scale_log2` takes the first's place."""
    if bmm1_scale.__class__ is float and bmm2_scale.__class__ is float and bmm1_scale_log2 is None:
        return Scales(bmm1_scale, bmm2_scale)
    of_scores, of_values, k, v = 1.0, 1.0, None, None
    if bmm1_scale_log2 is not None:
        k, of_scores = one(op, "bmm1_scale_log2", bmm1_scale_log2), _LN2
    elif isinstance(bmm1_scale, torch.Tensor):
        k = one(op, "bmm1_scale", bmm1_scale)
    else:
        of_scores = number(op, "bmm1_scale", bmm1_scale)
    if isinstance(bmm2_scale, torch.Tensor):
        v = one(op, "bmm2_scale", bmm2_scale)
    else:
        of_values = number(op, "bmm2_scale", bmm2_scale)
    return Scales(of_scores, of_values, None, k, v)


def one(op: str, name: str, value: torch.Tensor) -> torch.Tensor:
    """Check a factor on the device."""
    if value.numel() != 1 or value.dtype is not torch.float32:
        raise ValueError(
            f"{op}: argument '{name}' has shape {tuple(value.shape)} and dtype {value.dtype}; pass "
            "a number, or a tensor of one torch.float32"
        )
    return value.view(1)


def of_xqa(op: str, q_scale: Number, kv_scale: Number, rcp_out_scale: float, dim: int) -> Scales:
    """Combine them: scores get both and 1 / sqrt(dim), the result kv_scale and rcp_out_scale."""
    scores, values = dim**-0.5, number(op, "rcp_out_scale", rcp_out_scale)
    q = kv = None
    if isinstance(q_scale, torch.Tensor):
        q = one(op, "q_scale", q_scale)
    else:
        scores *= number(op, "q_scale", q_scale)
    if isinstance(kv_scale, torch.Tensor):
        kv = one(op, "kv_scale", kv_scale)
    else:
        factor = number(op, "kv_scale", kv_scale)
        scores, values = scores * factor, values * factor
    return Scales(scores, values, q, kv, kv)
