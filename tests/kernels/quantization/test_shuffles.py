"""Shuffles of weights: the rows of one block by hand, any block by its place, refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.kernels.quantization import _shuffles
from fictl.kernels.quantization._shuffles import (
    convert_to_block_layout,
    get_shuffle_matrix_a_row_indices,
    get_w2_permute_indices_with_cache,
    reorder_rows_for_gated_act_gemm,
    shuffle_matrix_a,
    shuffle_matrix_sf_a,
)
from fictl.kernels.quantization.block_scaled.op import block_scale_interleave

# Row i of a block goes to these rows.
GOES = {
    16: [i // 2 + 8 * (i % 2) for i in range(16)],
    32: [i // 4 + 8 * (i % 4) for i in range(32)],
}
BY_TILE = [(64, 16), (128, 32), (256, 32), (192, 16)]


def test_one_block_by_hand() -> None:
    rows = torch.arange(16)[:, None]
    by_hand = [0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15]
    assert shuffle_matrix_a(rows, 64)[:, 0].tolist() == by_hand
    first = shuffle_matrix_a(torch.arange(32)[:, None], 128)[:10, 0].tolist()
    assert first == [0, 4, 8, 12, 16, 20, 24, 28, 1, 5]


@pytest.mark.parametrize(("tile", "block"), BY_TILE)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16, torch.float8_e4m3fn])
def test_each_row_goes_to_its_place_in_its_block(tile: int, block: int, dtype: torch.dtype) -> None:
    x = torch.randint(0, 100, (3 * block, 5)).to(dtype)
    shuffled = shuffle_matrix_a(x, tile)
    for row in range(3 * block):
        to = row // block * block + GOES[block][row % block]
        assert torch.equal(shuffled[to].view(torch.uint8), x[row].view(torch.uint8))
    indices = get_shuffle_matrix_a_row_indices(x, tile)
    assert (indices.dtype, indices.device.type) == (torch.int64, "cpu")
    assert torch.equal(x.view(torch.uint8)[indices], shuffled.view(torch.uint8))


def test_any_strides_and_no_alias() -> None:
    whole = torch.arange(32 * 12).view(32, 12)
    x = whole.t()[:, :].t()[:, ::3]
    assert torch.equal(shuffle_matrix_a(x, 64), shuffle_matrix_a(x.contiguous(), 64))
    shuffle_matrix_a(whole[:16], 64)[0, 0] = -1
    reorder_rows_for_gated_act_gemm(whole[:2])[0, 0] = -1
    convert_to_block_layout(whole, 12)[0, 0, 0] = -1
    assert whole[0, 0] == 0


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16])
def test_scales_are_shuffled_before_they_are_laid_out(dtype: torch.dtype, device: str) -> None:
    scales = torch.randint(0, 200, (128, 6), device=device).to(dtype)
    want = block_scale_interleave(shuffle_matrix_a(scales, 128))
    assert torch.equal(shuffle_matrix_sf_a(scales, 128, 32), want)


def test_halves_are_interleaved_and_columns_cut() -> None:
    x = torch.arange(24).view(6, 4)
    assert reorder_rows_for_gated_act_gemm(x)[:, 0].tolist() == [0, 12, 4, 16, 8, 20]
    blocks = convert_to_block_layout(x, 2)
    assert blocks.shape == (2, 6, 2)
    assert blocks.is_contiguous()
    assert torch.equal(blocks[1], x[:, 2:])
    assert convert_to_block_layout(x[:0], 4).shape == (1, 0, 4)


def test_rows_are_kept_by_all_that_decides_them() -> None:
    kept: dict[object, torch.Tensor] = {}
    weight, scales = torch.zeros(128, 4), torch.zeros(128, 4, dtype=torch.uint8)
    gated = _shuffles._maybe_get_cached_w3_w1_permute_indices(kept, weight, 128)
    x = torch.arange(128)[:, None]
    assert torch.equal(x[gated], shuffle_matrix_a(reorder_rows_for_gated_act_gemm(x), 128))
    again = _shuffles._maybe_get_cached_w3_w1_permute_indices(kept, weight, 128)
    assert again is gated
    plain = _shuffles._maybe_get_cached_w3_w1_permute_indices(kept, weight, 128, None, False)
    assert torch.equal(plain, get_w2_permute_indices_with_cache(kept, weight, 128))
    assert torch.equal(plain, get_w2_permute_indices_with_cache(kept, scales, 128, 16))
    get_w2_permute_indices_with_cache(kept, weight, 64)
    assert len(kept) == 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shuffle_matrix_a(torch.zeros(24, 2), 64), r"\(24, 2\).*multiple of 16"),
        (lambda: shuffle_matrix_a(torch.zeros(16), 64), r"\(16,\); pass it as \(rows, cols\)"),
        (lambda: reorder_rows_for_gated_act_gemm(torch.zeros(3, 2)), "multiple of 2"),
        (lambda: convert_to_block_layout(torch.zeros(3, 6), 4), "columns must be a multiple of 4"),
        (lambda: convert_to_block_layout(torch.zeros(3, 6), 0), "multiple of 0"),
        (lambda: shuffle_matrix_sf_a(torch.zeros(64, 4).byte(), 128), "multiple of 128"),
        (lambda: shuffle_matrix_sf_a(torch.zeros(128, 4).byte(), 128, 8), "is 8; accepted: 16, 32"),
    ],
)
def test_what_does_not_fit_is_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_scales_of_another_dtype_are_refused() -> None:
    with pytest.raises(TypeError, match=r"torch.float32; accepted: uint8, bfloat16"):
        shuffle_matrix_sf_a(torch.zeros(128, 4), 128)
