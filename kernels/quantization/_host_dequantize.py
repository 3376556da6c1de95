"""Dequantization of block-scaled weights by torch alone, on the CPU as well: for loading and tests."""

from __future__ import annotations

import torch

from ._layout import SfLayout, row_major

__all__ = ["mxfp4_dequantize_host", "mxfp8_dequantize_host"]

_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def mxfp4_dequantize_host(
    weight: torch.Tensor, scale: torch.Tensor, group_size: int = 32
) -> torch.Tensor:
    """Compute e2m1 * 2^(scale - 127) in fp32, on the tensors' device, mostly the CPU.

    weight: (rows, cols / 2), uint8, the first of two values in the low half.
    scale: (rows, cols / group_size), uint8, row by row; 255 is NaN.
    group_size: values of a scale.
    """
    name = "mxfp4_dequantize_host"
    _check_bytes(name, "weight", weight, torch.uint8)
    _check_bytes(name, "scale", scale, torch.uint8)
    rows, cols = weight.shape[0], 2 * weight.shape[1]
    if group_size <= 0 or (rows, cols) != (scale.shape[0], scale.shape[1] * group_size):
        raise ValueError(
            f"{name}: weight has shape {tuple(weight.shape)}, scale {tuple(scale.shape)}; with "
            f"groups of {group_size} values, scale is (rows, cols / {group_size})"
        )
    sizes = torch.tensor([*_E2M1, *(-size for size in _E2M1)], device=weight.device)
    values = sizes[torch.stack([weight & 15, weight >> 4], -1).flatten(1).int()]
    return values * _power_of_two(scale).repeat_interleave(group_size, 1)


def mxfp8_dequantize_host(
    input: torch.Tensor,
    scale_tensor: torch.Tensor,
    is_sf_swizzled_layout: bool = True,
    sf_swizzle_layout: SfLayout | None = None,
) -> torch.Tensor:
    """Compute e4m3 * 2^(scale - 127) in fp32, on the tensors' device, mostly the CPU.

    input: (rows, cols), e4m3 or its bytes as uint8, cols a multiple of 32.
    scale_tensor: the scales in their layout, uint8, of any shape; 255 is NaN.
    is_sf_swizzled_layout: scales in SfLayout.layout_128x4, otherwise linear.
    sf_swizzle_layout: overrides is_sf_swizzled_layout.
    """
    name = "mxfp8_dequantize_host"
    _check_bytes(name, "input", input, torch.uint8, torch.float8_e4m3fn)
    rows, cols = input.shape
    if cols % 32 or scale_tensor.dtype != torch.uint8:
        raise ValueError(
            f"{name}: input has shape {tuple(input.shape)}, scale_tensor is {scale_tensor.dtype}; "
            "pass rows of a multiple of 32 values, and their scales as uint8"
        )
    layout = sf_swizzle_layout
    if layout is None:
        layout = SfLayout.swizzled(is_sf_swizzled_layout)
    scales = _power_of_two(row_major(name, scale_tensor, rows, cols // 32, layout))
    return input.view(torch.float8_e4m3fn).float() * scales.repeat_interleave(32, 1)


def _check_bytes(name: str, argument: str, x: torch.Tensor, *dtypes: torch.dtype) -> None:
    if x.dtype not in dtypes:
        raise TypeError(f"{name}: argument '{argument}' is {x.dtype}; accepted: {dtypes}")
    if x.ndim != 2:
        raise ValueError(f"{name}: argument '{argument}' has shape {tuple(x.shape)}; pass a matrix")


def _power_of_two(scale: torch.Tensor) -> torch.Tensor:
    powers = torch.exp2(scale.double() - 127)
    return powers.masked_fill(scale == 255, torch.nan).float()
