"""The scale of a quantized output, as the kernels of this family take it."""

from __future__ import annotations

import torch


def scale_tensor(scale: float | torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Return one fp32 number on the device of `like`, where a CUDA graph may change it.

    A tensor is returned as it is; the binding checks it.
    """
    if isinstance(scale, torch.Tensor):
        return scale
    return torch.full((1,), scale, dtype=torch.float32, device=like.device)
