"""The scale of a quantized output, as the kernels of this family take it."""

from __future__ import annotations

import torch


def scale_tensor(scale: float | torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """One fp32 number where `like` is: a kernel reads it there, so that a CUDA graph may change it.

    A tensor is passed on as it is; the binding says what is wrong with it.
    """
    if isinstance(scale, torch.Tensor):
        return scale
    return torch.full((1,), scale, dtype=torch.float32, device=like.device)
