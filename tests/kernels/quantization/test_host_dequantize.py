"""Dequantization by torch: the same numbers as the kernels', every byte of a scale, refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.kernels.quantization._host_dequantize import (
    mxfp4_dequantize_host,
    mxfp8_dequantize_host,
)
from fictl.kernels.quantization._layout import SfLayout
from fictl.kernels.quantization.block_scaled import reference


@pytest.mark.parametrize("group", [16, 32, 64])
def test_every_number_of_four_bits(group: int) -> None:
    weight = torch.arange(256).to(torch.uint8).view(2, 128)
    scale = torch.randint(100, 150, (2, 256 // group)).to(torch.uint8)
    powers = torch.exp2(scale.double() - 127).float().repeat_interleave(group, 1)
    want = reference._from_e2m1(weight) * powers
    assert torch.equal(mxfp4_dequantize_host(weight, scale, group), want)


def test_every_byte_of_a_scale() -> None:
    scale = torch.arange(256).to(torch.uint8)[:, None]
    ones = torch.full((256, 16), 0x22, dtype=torch.uint8)
    want = torch.exp2(scale.double() - 127).float()[:, 0]
    want[255] = torch.nan
    for got in (
        mxfp4_dequantize_host(ones, scale)[:, 3],
        mxfp8_dequantize_host(torch.full((256, 32), 0x38).byte(), scale, False)[:, 3],
    ):
        assert torch.equal(got.nan_to_num(nan=-1.0), want.nan_to_num(nan=-1.0))


@pytest.mark.parametrize("layout", [*SfLayout])
@pytest.mark.parametrize(("rows", "cols"), [(1, 32), (129, 160), (0, 32)])
def test_scales_of_each_layout(rows: int, cols: int, layout: SfLayout) -> None:
    values = torch.randn(rows, cols).to(torch.float8_e4m3fn)
    scales = torch.randint(110, 140, (rows, cols // 32)).to(torch.uint8)
    laid_out = reference._laid_out(scales, layout)
    want = values.float() * torch.exp2(scales.float() - 127).repeat_interleave(32, 1)
    got = mxfp8_dequantize_host(values, laid_out.flatten(), sf_swizzle_layout=layout)
    assert torch.equal(got, want)
    of_bytes = mxfp8_dequantize_host(values.view(torch.uint8), laid_out, sf_swizzle_layout=layout)
    assert torch.equal(of_bytes, want)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: _mxfp4((2, 16), (2, 2)), ValueError, r"\(2, 16\), scale \(2, 2\)"),
        (lambda: _mxfp4((2, 16), (3, 1)), ValueError, r"scale is \(rows, cols / 32\)"),
        (lambda: _mxfp4((2, 16), (2, 1), 0), ValueError, "groups of 0"),
        (lambda: _mxfp4((32,), (1,)), ValueError, "pass a matrix"),
        (lambda: _mxfp8((2, 48), 512), ValueError, "multiple of 32"),
        (lambda: _mxfp8((2, 64), 4), ValueError, "there are 4 scales; 2 rows of 2 blocks take 512"),
        (lambda: _mxfp8((2, 64), 4, 3), ValueError, "layout of the scales is 3"),
        (lambda: mxfp8_dequantize_host(torch.zeros(2, 32), None), TypeError, "'input' is"),  # type: ignore[arg-type]
    ],
)
def test_what_does_not_fit_is_refused(call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def _mxfp4(weight: tuple[int, ...], scale: tuple[int, ...], group: int = 32) -> torch.Tensor:
    return mxfp4_dequantize_host(torch.zeros(weight).byte(), torch.zeros(scale).byte(), group)


def _mxfp8(shape: tuple[int, int], scales: int, layout: int = 0) -> torch.Tensor:
    of = torch.zeros(scales).byte()
    return mxfp8_dequantize_host(torch.zeros(shape).byte(), of, sf_swizzle_layout=layout)  # type: ignore[arg-type]
