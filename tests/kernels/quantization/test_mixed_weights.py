"""Orders of 4-bit weights for Hopper: each nibble by its place, scales by hand, refusals."""

from __future__ import annotations

from itertools import chain

import pytest
import torch

from fictl.kernels.quantization._mixed_weights import (
    interleave_moe_scales_for_sm90_mixed_gemm,
    interleave_moe_weights_for_sm90_mixed_gemm,
)

# Where the four bits of each nibble of a word go, the lowest first: nibbles 2 b and 2 b + 1 are byte b.
FP4_BITS = [
    [6, 7, 8, 15],
    [22, 23, 24, 31],
    [3, 4, 5, 12],
    [19, 20, 21, 28],
    [0, 1, 2, 9],
    [16, 17, 18, 25],
    [13, 10, 11, 14],
    [29, 26, 27, 30],
]
FP8_SIGNS = [7, 15, 23, 31, 3, 11, 19, 27]


def _word(bytes_: list[int]) -> int:
    return int.from_bytes(bytes(bytes_), "little")


def _bits_moved(word: int, to: list[int]) -> int:
    return sum((word >> bit & 1) << place for bit, place in enumerate(to))


def _by_hand(weight: torch.Tensor, quant_type: str) -> torch.Tensor:
    """One expert, a word of the result at a time: two bytes of each of two rows, 8 apart."""
    out = torch.zeros_like(weight)
    rows, cols = weight.shape
    for row in range(rows):
        base, half = row // 16 * 16 + row % 8, row % 16 // 8
        for word in range(cols // 4):
            piece, at = word // 8 * 32, word % 8
            if quant_type == "fp4":
                col = piece + at // 4 * 16 + half * 8 + at % 4
                taken = [(0, col), (8, col), (0, col + 4), (8, col + 4)]
            else:
                col = piece + at // 4 * 16 + half * 8 + at % 4 * 2
                taken = [(0, col), (0, col + 1), (8, col), (8, col + 1)]
            value = _word([int(weight[base + down, of]) for down, of in taken])
            if quant_type == "fp4":
                value = _bits_moved(value, [*chain(*FP4_BITS)])
            elif quant_type == "fp4_fp8":
                places = [[4 * n, 4 * n + 1, 4 * n + 2, FP8_SIGNS[n]] for n in range(8)]
                value = _bits_moved(value, [*chain(*places)])
            out[row, 4 * word : 4 * word + 4] = torch.tensor([*value.to_bytes(4, "little")])
    return out


@pytest.mark.parametrize("quant_type", ["fp4", "fp4_fp8", "int4"])
def test_each_bit_is_where_the_product_reads_it(quant_type: str) -> None:
    weight = torch.randint(0, 256, (2, 32, 64)).to(torch.uint8)
    got = interleave_moe_weights_for_sm90_mixed_gemm(weight, quant_type)
    assert got.is_contiguous()
    for expert in range(2):
        assert torch.equal(got[expert], _by_hand(weight[expert], quant_type))


def test_fp4_is_the_default_and_strides_do_not_matter() -> None:
    whole = torch.randint(0, 256, (1, 64, 16)).to(torch.uint8)
    weight = whole.transpose(1, 2)
    got = interleave_moe_weights_for_sm90_mixed_gemm(weight[:, :, :32])
    want = interleave_moe_weights_for_sm90_mixed_gemm(weight[:, :, :32].contiguous(), "fp4")
    assert torch.equal(got, want)
    assert interleave_moe_weights_for_sm90_mixed_gemm(weight[:0]).shape == (0, 16, 64)


@pytest.mark.parametrize(("dtype", "group"), [(torch.uint8, 32), (torch.bfloat16, 128)])
def test_scales_are_folded_by_pieces_of_64_rows_and_128_values(dtype, group: int) -> None:
    groups = 128 // group
    scales = torch.arange(128 * 2 * groups).view(1, 128, -1).to(dtype)
    folded = interleave_moe_scales_for_sm90_mixed_gemm(scales, group)
    width = 16 // scales.element_size()
    left = 64 * groups // width
    assert folded.shape == (1, 2, 2, left, width)
    for block, piece, row, col in ((0, 0, 0, 0), (1, 1, left - 1, width - 1), (1, 0, 3, groups)):
        source = scales[0, block * 64 + row + col // groups * left, piece * groups + col % groups]
        assert folded[0, block, piece, row, col] == source


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _weights(16, 32), r"\(16, 32\); pass it as \(experts, rows, cols / 2\)"),
        (lambda: _weights(1, 24, 32), "rows must be a multiple of 16"),
        (lambda: _weights(1, 16, 24), "bytes of a row of 32"),
        (lambda: _weights(1, 16, 32, quant_type="fp8"), "'fp8'; accepted"),
        (lambda: _scales(64, 4), r"\(64, 4\); pass it as \(experts, rows, groups\)"),
        (lambda: _scales(1, 64, 4, group=48), "is 48; it must divide 128"),
        (lambda: _scales(1, 64, 4, group=0), "is 0; it must divide 128"),
        (lambda: _scales(1, 64, 32, group=4), "no even part of 16 bytes"),
        (lambda: _scales(1, 96, 4), "rows must be a multiple of 64"),
        (lambda: _scales(1, 64, 6), "the scales of a row of 4"),
    ],
)
def test_what_does_not_fit_is_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_weights_of_another_dtype_are_refused() -> None:
    with pytest.raises(TypeError, match=r"torch\.int8; pass bytes"):
        interleave_moe_weights_for_sm90_mixed_gemm(torch.zeros(1, 16, 32, dtype=torch.int8))


def _weights(*shape: int, quant_type: str = "fp4") -> torch.Tensor:
    weight = torch.zeros(shape, dtype=torch.uint8)
    return interleave_moe_weights_for_sm90_mixed_gemm(weight, quant_type)


def _scales(*shape: int, group: int = 32) -> torch.Tensor:
    return interleave_moe_scales_for_sm90_mixed_gemm(torch.zeros(shape, dtype=torch.uint8), group)
