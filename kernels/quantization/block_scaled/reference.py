"""References of the block-scaled formats, exact to the byte: fp32 arithmetic, rounded at each step."""

from __future__ import annotations

import torch


def _e2m1(x: torch.Tensor) -> torch.Tensor:
    """Round to the nearest e2m1, ties to even; pack two in a byte, the first in its low half."""
    size = x.abs()
    code = (size > 0.25).to(torch.uint8) + (size > 1.25) + (size > 2.5) + (size > 5)
    code = code + (size >= 0.75) + (size >= 1.75) + (size >= 3.5) + x.signbit().to(torch.uint8) * 8
    return code[..., 0::2] | code[..., 1::2] << 4


def _from_e2m1(packed: torch.Tensor) -> torch.Tensor:
    code = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(-2).long()
    sizes = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], device=packed.device)
    return torch.cat([sizes, -sizes])[code]


def _tiled(scales: torch.Tensor, tile_rows: int) -> torch.Tensor:
    """Reorder row-major scales into tiles of `tile_rows` rows and four columns, padded with zeros."""
    rows, cols = scales.shape
    padding = (0, -cols % 4, 0, -rows % tile_rows)
    padded = torch.nn.functional.pad(scales, padding)
    height = min(tile_rows, 32)
    tiles = padded.view(-1, tile_rows // height, height, padded.shape[1] // 4, 4)
    return tiles.permute(0, 3, 2, 1, 4).reshape(padded.shape)


def _laid_out(scales: torch.Tensor, layout: int) -> torch.Tensor:
    return scales if layout == 2 else _tiled(scales, 128 if layout == 0 else 8)


def _row_major(scales: torch.Tensor, rows: int, cols: int, layout: int) -> torch.Tensor:
    if layout == 2:
        return scales.reshape(rows, cols)
    width, height, heights = -(-cols // 4), (32, 8)[layout], (4, 1)[layout]
    tiles = scales.reshape(-1, width, height, heights, 4)
    return tiles.permute(0, 3, 2, 1, 4).reshape(-1, width * 4)[:rows, :cols]


def _powers_of_two(x: torch.Tensor, most: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Divide each block of 32 by a power of two, rounded up; return the values and the exponents."""
    blocks = x.float().reshape(*x.shape[:-1], x.shape[-1] // 32, 32)
    largest = blocks.abs().amax(-1)
    mantissa, exponent = torch.frexp(largest * (1 / most))
    exponent = torch.where(mantissa > 0.5, exponent, exponent - 1)
    exponent = torch.where(largest > 0, exponent, -127).clamp(-127, 127)
    factor = torch.exp2(-exponent.double()).float()
    return (blocks * factor[..., None]).flatten(-2), (exponent + 127).to(torch.uint8).flatten(0, -2)


def _layout(is_swizzled: bool, layout: int | None) -> int:
    return layout if layout is not None else 0 if is_swizzled else 2


def mxfp8_quantize(
    input: torch.Tensor, is_sf_swizzled_layout: bool, alignment: int, sf_swizzle_layout: int | None
) -> tuple[torch.Tensor, torch.Tensor]:
    padded = torch.nn.functional.pad(input, (0, -input.shape[-1] % alignment))
    values, scales = _powers_of_two(padded, 448.0)
    layout = _layout(is_sf_swizzled_layout, sf_swizzle_layout)
    return values.to(torch.float8_e4m3fn), _laid_out(scales, layout).flatten()


def mxfp4_quantize(a: torch.Tensor, sfLayout: int) -> tuple[torch.Tensor, torch.Tensor]:  # noqa: N803
    values, scales = _powers_of_two(a, 6.0)
    return _e2m1(values), _laid_out(scales, sfLayout)


def _nvfp4(a: torch.Tensor, scale: torch.Tensor, layout: int) -> tuple[torch.Tensor, torch.Tensor]:
    blocks = a.float().reshape(*a.shape[:-1], a.shape[-1] // 16, 16)
    scale = scale.float().reshape(-1, *[1] * (a.ndim - 1))
    wanted = blocks.abs().amax(-1) * (scale * (1 / 6))
    scales = wanted.clamp(max=448).to(torch.float8_e4m3fn)
    factor = (1 / (scales.float() * (1 / scale))).clamp(max=torch.finfo(torch.float32).max)
    packed = _e2m1((blocks * factor[..., None]).flatten(-2))
    return packed, _laid_out(scales.view(torch.uint8).flatten(0, -2), layout)


def nvfp4_quantize(
    a: torch.Tensor,
    a_global_sf: torch.Tensor,
    sfLayout: int,  # noqa: N803
    do_shuffle: bool,
    sf_vec_size: int,
    per_token_activation: bool,
    expanded_idx_to_permuted_idx: torch.Tensor | None,
    out_scale: torch.Tensor | None,
    nvfp4_4over6: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    return _nvfp4(a, a_global_sf, sfLayout)


def fp4_quantize(
    input: torch.Tensor,
    global_scale: torch.Tensor,
    sf_vec_size: int,
    sf_use_ue8m0: bool,
    is_sf_swizzled_layout: bool,
    is_sf_8x4_layout: bool,
    is_global_scale_inversed: bool,
    nvfp4_4over6: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    layout = (1 if is_sf_8x4_layout else 0) if is_sf_swizzled_layout else 2
    if sf_use_ue8m0:
        return mxfp4_quantize(input, layout)
    scale = global_scale.float()
    return _nvfp4(input, 1 / scale if is_global_scale_inversed else scale, layout)


def mxfp8_dequantize(
    input: torch.Tensor,
    scale_tensor: torch.Tensor,
    is_sf_swizzled_layout: bool,
    sf_swizzle_layout: int | None,
) -> torch.Tensor:
    rows, cols = input.shape
    layout = _layout(is_sf_swizzled_layout, sf_swizzle_layout)
    scales = _row_major(scale_tensor, rows, cols // 32, layout)
    return input.float() * torch.exp2(scales.double() - 127).float().repeat_interleave(32, -1)


def e2m1_and_ufp8sf_scale_to_float(
    e2m1_tensor: torch.Tensor,
    ufp8_scale_tensor: torch.Tensor,
    global_scale_tensor: torch.Tensor | None,
    sf_vec_size: int,
    ufp8_type: int,
    is_sf_swizzled_layout: bool,
    is_sf_8x4_layout: bool,
) -> torch.Tensor:
    values = _from_e2m1(e2m1_tensor)
    rows, cols = values.shape
    layout = (1 if is_sf_8x4_layout else 0) if is_sf_swizzled_layout else 2
    scales = _row_major(ufp8_scale_tensor, rows, cols // sf_vec_size, layout)
    if ufp8_type == 1:
        decoded = scales.contiguous().view(torch.float8_e4m3fn).float()
    else:
        decoded = torch.exp2(scales.double() - 127).float()
    if global_scale_tensor is not None:
        decoded = decoded * global_scale_tensor.float()
    return values * decoded.repeat_interleave(sf_vec_size, -1)


def mxfp4_dequantize(
    a_fp4: torch.Tensor,
    a_sf: torch.Tensor,
    sfLayout: int,  # noqa: N803
) -> torch.Tensor:
    flags = sfLayout < 2, sfLayout == 1
    return e2m1_and_ufp8sf_scale_to_float(a_fp4, a_sf, None, 32, 0, *flags)


def block_scale_interleave(unswizzled_sf: torch.Tensor) -> torch.Tensor:
    return _tiled(unswizzled_sf, 128).flatten()
