"""Orders of 4-bit weights of experts and of their scales, as Hopper's mixed matrix product reads them.

A thread of wgmma holds, of 16 rows, values of a row and of the row eight below it. What it holds of 16
or of 32 columns becomes adjacent, so that it loads them at once; the bits of its numbers lie as their
conversion wants them. FlashInfer's order, bit for bit.
"""

from __future__ import annotations

import torch

__all__ = [
    "interleave_moe_scales_for_sm90_mixed_gemm",
    "interleave_moe_weights_for_sm90_mixed_gemm",
]

_SCALE_ROWS = 64
_SCALE_VALUES = 128  # values of a row whose scales lie together
_LOAD_BITS = 128


def interleave_moe_scales_for_sm90_mixed_gemm(
    scales: torch.Tensor, group_size: int = 32
) -> torch.Tensor:
    """Copy scales so that those of 64 rows by 128 values are one piece, its rows folded to 16 bytes.

    Of a piece, the scales of rows r, r + m, r + 2 m, … are 16 bytes, m being the rows that are left.

    scales: (experts, rows, cols / group_size), of any dtype: uint8 (e8m0) with groups of 32, 16 bits with
        groups of 128; rows a multiple of 64, cols of 128.
    group_size: values of a scale; it divides 128.
    """
    name = "interleave_moe_scales_for_sm90_mixed_gemm"
    if scales.ndim != 3:
        raise ValueError(
            f"{name}: scales has shape {tuple(scales.shape)}; pass it as (experts, rows, groups)"
        )
    if group_size <= 0 or _SCALE_VALUES % group_size:
        raise ValueError(f"{name}: group_size is {group_size}; it must divide {_SCALE_VALUES}")
    groups, width = _SCALE_VALUES // group_size, _LOAD_BITS // (8 * scales.element_size())
    if width % groups or _SCALE_ROWS % (width // groups):
        raise ValueError(
            f"{name}: group_size is {group_size}: {groups} scales of {scales.dtype} for 128 values "
            f"are no even part of 16 bytes; pass uint8 with 32, or 16 bits with 128"
        )
    experts, rows, cols = scales.shape
    if rows % _SCALE_ROWS or cols % groups:
        raise ValueError(
            f"{name}: scales has shape {tuple(scales.shape)}; rows must be a multiple of "
            f"{_SCALE_ROWS}, the scales of a row of {groups}"
        )
    slices = width // groups
    pieces = scales.reshape(experts, rows // _SCALE_ROWS, slices, -1, cols // groups, groups)
    folded = pieces.permute(0, 1, 4, 3, 2, 5).contiguous()
    return folded.reshape(*folded.shape[:4], width)


def interleave_moe_weights_for_sm90_mixed_gemm(
    weight: torch.Tensor, quant_type: str = "fp4"
) -> torch.Tensor:
    """Copy 4-bit weights of experts in the order in which a thread of Hopper's product takes them.

    weight: (experts, rows, cols / 2), uint8, two values a byte, on any device; rows a multiple of 16,
        cols of 64.
    quant_type: "fp4", e2m1 that becomes 16 bits; "fp4_fp8", e2m1 that becomes 8; or "int4".
    """
    name = "interleave_moe_weights_for_sm90_mixed_gemm"
    if weight.ndim != 3:
        raise ValueError(
            f"{name}: weight has shape {tuple(weight.shape)}; pass it as (experts, rows, cols / 2)"
        )
    if weight.dtype != torch.uint8:
        raise TypeError(f"{name}: weight is {weight.dtype}; pass bytes of two values as uint8")
    if quant_type not in _ORDERS:
        raise ValueError(f"{name}: quant_type is {quant_type!r}; accepted: {[*_ORDERS]}")
    if weight.shape[1] % 16 or weight.shape[2] % 32:
        raise ValueError(
            f"{name}: weight has shape {tuple(weight.shape)}; rows must be a multiple of 16, bytes "
            "of a row of 32"
        )
    out = torch.empty_like(weight, memory_format=torch.contiguous_format)
    # One by one, as what is between is as large as an expert.
    for of_expert, to in zip(weight, out, strict=True):
        to.copy_(_ORDERS[quant_type](of_expert))
    return out


def _fp4(weight: torch.Tensor) -> torch.Tensor:
    rows, cols = weight.shape
    # Rows: halves of 16 of 8. Columns: of 32, halves of halves of halves of 4.
    parts = weight.reshape(rows // 16, 2, 8, cols // 32, 2, 2, 2, 4)
    words = parts.permute(0, 5, 2, 3, 4, 7, 6, 1).contiguous()
    bytes_ = words.reshape(rows, cols // 4, 4).int().unbind(-1)
    # The low and the high nibble, each in 16 bits: a sign, then two bits of exponent and one more.
    spread = [byte & 15 | (byte & 0xF0) << 12 for byte in bytes_]
    packed = _moved(spread[0], 8, 12) | _moved(spread[0], 7, 6)
    packed |= _moved(spread[1], 8, 9) | _moved(spread[1], 7, 3)
    packed |= _moved(spread[2], 8, 6) | _moved(spread[2], 7, 0)
    packed |= _moved(spread[3], 8, 11) | _moved(spread[3], 1, 13) | _moved(spread[3], 6, 9)
    return packed.view(torch.uint8).view(rows, cols)


def _moved(nibbles: torch.Tensor, bits: int, by: int) -> torch.Tensor:
    """Return those bits of both nibbles, shifted to the left."""
    return (nibbles & (bits | bits << 16)) << by


def _int4(weight: torch.Tensor) -> torch.Tensor:
    rows, cols = weight.shape
    pairs = weight.reshape(rows // 16, 2, 8, cols // 32, 2, 2, 4, 2)
    return pairs.permute(0, 5, 2, 3, 4, 6, 1, 7).reshape(rows, cols).contiguous()


def _fp4_fp8(weight: torch.Tensor) -> torch.Tensor:
    """Move the signs of nibbles 0 to 3 of a word to the odd nibbles, those of 4 to 7 to the even ones."""
    words = _int4(weight).view(torch.int32)
    packed = words & 0x77777777
    for sign in range(4):
        packed |= (words >> (4 * sign + 3) & 1) << (8 * sign + 7)
        packed |= (words >> (4 * sign + 19) & 1) << (8 * sign + 3)
    return packed.view(torch.uint8).view(weight.shape)


_ORDERS = {"fp4": _fp4, "fp4_fp8": _fp4_fp8, "int4": _int4}
