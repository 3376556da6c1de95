"""The scale of a whole tensor that nvfp4_quantize is given."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["make_nvfp4_global_scale"]

_MOST = 448.0 * 6.0  # The largest scale of a block times the largest value.


def make_nvfp4_global_scale(
    input_tensor: torch.Tensor,
    per_token_activation: bool,
    global_scale: float | None = None,
    nvfp4_4over6_config: Any = None,
) -> torch.Tensor:
    """Return 448 * 6 over the largest magnitude, (1,) float32, on the tensor's device.

    Nothing is read on the host. A tensor of zeros, or of numbers so small that the quotient is infinite,
    has the largest float32.

    input_tensor: of any shape and floating-point dtype, not empty.
    per_token_activation: return 1 / (448 * 6) instead; tokens have scales of their own.
    global_scale: returned instead if given.
    nvfp4_4over6_config: None.
    """
    if nvfp4_4over6_config is not None:
        raise ValueError(
            "make_nvfp4_global_scale: argument 'nvfp4_4over6_config' is "
            f"{nvfp4_4over6_config!r}; accepted: None"
        )
    device = input_tensor.device
    if per_token_activation:
        return torch.full((1,), 1 / _MOST, dtype=torch.float32, device=device)
    if global_scale is not None:
        return torch.full((1,), global_scale, dtype=torch.float32, device=device)
    if not input_tensor.numel():
        raise ValueError(
            f"make_nvfp4_global_scale: argument 'input_tensor' has shape "
            f"{tuple(input_tensor.shape)}: it has no largest value; pass global_scale"
        )
    largest = input_tensor.abs().max().float().reshape(1)
    return (_MOST / largest).clamp(max=torch.finfo(torch.float32).max)
