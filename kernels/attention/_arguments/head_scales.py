"""Scales of queries, keys and values of 8 bits: one for each head, or one for all."""

from __future__ import annotations

from typing import NamedTuple

import torch

from .._config import EIGHTHS

Scale = torch.Tensor | float


class HeadScales(NamedTuple):
    """Tensors of fp32 as kernels read them; None is 1."""

    q: torch.Tensor | None = None
    k: torch.Tensor | None = None
    v: torch.Tensor | None = None


NO_SCALES = HeadScales()


def head_scales(
    op: str,
    q: torch.Tensor,
    scale_q: Scale | None,
    scale_k: Scale | None,
    scale_v: Scale | None,
) -> HeadScales:
    """Read the scales of a call; nothing is waited for."""
    given = {"scale_q": scale_q, "scale_k": scale_k, "scale_v": scale_v}
    if q.dtype in EIGHTHS:
        return HeadScales(*(_numbers(op, name, scale, q) for name, scale in given.items()))
    for name, scale in given.items():
        if scale is not None:
            raise ValueError(
                f"{op}: argument '{name}' is given, and 'q' has dtype {q.dtype}; scales of heads "
                "are for queries of fp8: pass q_scale, k_scale and v_scale"
            )
    return NO_SCALES


def _numbers(op: str, name: str, scale: Scale | None, q: torch.Tensor) -> torch.Tensor | None:
    if scale is None:
        return None
    if isinstance(scale, torch.Tensor):
        return scale.float().contiguous()
    if isinstance(scale, bool) or not isinstance(scale, int | float):
        raise TypeError(f"{op}: argument '{name}' is {scale!r}; pass a tensor or a number")
    return torch.full((1,), scale, dtype=torch.float32, device=q.device)
