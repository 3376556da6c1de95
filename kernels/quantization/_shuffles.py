"""Orders of the rows and columns of weights that mixtures of experts of FlashInfer's are given."""

from __future__ import annotations

from typing import Any

import torch

from .block_scaled.op import block_scale_interleave

__all__ = [
    "_maybe_get_cached_w3_w1_permute_indices",
    "convert_to_block_layout",
    "get_reorder_rows_for_gated_act_gemm_row_indices",
    "get_shuffle_block_size",
    "get_shuffle_matrix_a_row_indices",
    "get_shuffle_matrix_sf_a_row_indices",
    "get_w2_permute_indices_with_cache",
    "reorder_rows_for_gated_act_gemm",
    "shuffle_matrix_a",
    "shuffle_matrix_sf_a",
]

_EIGHT = 8  # Rows of a core matrix of tensor cores.


def get_shuffle_block_size(epilogue_tile_m: int) -> int:
    """Return the rows among which shuffle_matrix_a permutes: 32 for tiles of 128 rows, or 16."""
    return 32 if epilogue_tile_m % 128 == 0 else 16


def shuffle_matrix_a(input_tensor: torch.Tensor, epilogue_tile_m: int) -> torch.Tensor:
    """Copy a matrix with the rows of each block of 16 or 32 dealt out to pieces of eight.

    Row k * i + j of a block becomes row 8 * j + i, where k is its number of pieces.

    input_tensor: (rows, cols), of any dtype and strides; rows a multiple of the block's.
    epilogue_tile_m: selects blocks of 32 rows if it is a multiple of 128, otherwise of 16.
    """
    rows, cols = _matrix("shuffle_matrix_a", input_tensor)
    block = get_shuffle_block_size(epilogue_tile_m)
    _whole("shuffle_matrix_a", input_tensor, "rows", rows, block)
    blocks = input_tensor.reshape(rows // block, _EIGHT, block // _EIGHT, cols)
    return _copied(blocks.transpose(1, 2)).view(rows, cols)


def shuffle_matrix_sf_a(
    input_tensor: torch.Tensor, epilogue_tile_m: int, num_elts_per_sf: int = 16
) -> torch.Tensor:
    """Shuffle the rows of scales as shuffle_matrix_a does, then lay them out as layout_128x4.

    input_tensor: (rows, blocks), uint8 or bfloat16, in linear layout; rows a multiple of 128.
    epilogue_tile_m: as of the weights.
    num_elts_per_sf: values of a block, 16 or 32; the order does not depend on it.
    """
    _check_scales("shuffle_matrix_sf_a", input_tensor, num_elts_per_sf)
    return block_scale_interleave(shuffle_matrix_a(input_tensor, epilogue_tile_m))


def reorder_rows_for_gated_act_gemm(x: torch.Tensor) -> torch.Tensor:
    """Copy a matrix with its two halves interleaved: row i of the first, row i of the second, ...

    x: (rows, cols), of any dtype and strides; an even number of rows.
    """
    name = "reorder_rows_for_gated_act_gemm"
    rows, cols = _matrix(name, x)
    _whole(name, x, "rows", rows, 2)
    return _copied(x.reshape(2, rows // 2, cols).transpose(0, 1)).view(rows, cols)


def convert_to_block_layout(
    input_tensor: torch.Tensor,
    blockK: int,  # noqa: N803 as elsewhere
) -> torch.Tensor:
    """Copy a matrix as its blocks of columns, (cols / blockK, rows, blockK), contiguous.

    input_tensor: (rows, cols), of any dtype and strides; cols a multiple of blockK.
    """
    rows, cols = _matrix("convert_to_block_layout", input_tensor)
    _whole("convert_to_block_layout", input_tensor, "columns", cols, blockK)
    blocks = input_tensor.reshape(rows, cols // blockK, blockK)
    return _copied(blocks.transpose(0, 1))


def get_shuffle_matrix_a_row_indices(
    input_tensor: torch.Tensor, epilogue_tile_m: int
) -> torch.Tensor:
    """Return the row that each row of shuffle_matrix_a's result is: int64, on the CPU."""
    rows, _ = _matrix("get_shuffle_matrix_a_row_indices", input_tensor)
    return shuffle_matrix_a(torch.arange(rows)[:, None], epilogue_tile_m)[:, 0]


def get_shuffle_matrix_sf_a_row_indices(
    input_tensor: torch.Tensor, epilogue_tile_m: int, num_elts_per_sf: int = 16
) -> torch.Tensor:
    """Return the row that each row of shuffled scales is, before they are laid out in tiles."""
    _check_scales("get_shuffle_matrix_sf_a_row_indices", input_tensor, num_elts_per_sf)
    return get_shuffle_matrix_a_row_indices(input_tensor, epilogue_tile_m)


def get_reorder_rows_for_gated_act_gemm_row_indices(x: torch.Tensor) -> torch.Tensor:
    """Return the row that each row of reorder_rows_for_gated_act_gemm's result is, on the CPU."""
    rows, _ = _matrix("get_reorder_rows_for_gated_act_gemm_row_indices", x)
    return reorder_rows_for_gated_act_gemm(torch.arange(rows)[:, None])[:, 0]


def _maybe_get_cached_w3_w1_permute_indices(
    _cache_permute_indices: dict[Any, torch.Tensor],
    dst_w3_w1_weight: torch.Tensor,
    epilogue_tile_m: int,
    num_elts_per_sf: int | None = None,
    is_gated_act_gemm: bool = True,
) -> torch.Tensor:
    """Return the rows of interleaved, then shuffled weights, on their device; keep them by shape."""
    key = ("w3_w1", dst_w3_w1_weight.shape, epilogue_tile_m, num_elts_per_sf, is_gated_act_gemm)
    if key not in _cache_permute_indices:
        rows = _shuffled_rows(dst_w3_w1_weight, epilogue_tile_m, num_elts_per_sf)
        if is_gated_act_gemm:
            rows = get_reorder_rows_for_gated_act_gemm_row_indices(dst_w3_w1_weight)[rows]
        _cache_permute_indices[key] = rows.to(dst_w3_w1_weight.device)
    return _cache_permute_indices[key]


def get_w2_permute_indices_with_cache(
    _cache_permute_indices: dict[Any, torch.Tensor],
    dst_w2_weight: torch.Tensor,
    epilogue_tile_m: int,
    num_elts_per_sf: int | None = None,
    is_gated_act_gemm: bool | None = None,
) -> torch.Tensor:
    """Return the rows of shuffled weights, or of their scales, on their device; keep them by shape.

    _cache_permute_indices: where they are kept, and looked up.
    num_elts_per_sf: values of a block, if these are scales.
    """
    key = ("w2", dst_w2_weight.shape, epilogue_tile_m, num_elts_per_sf, is_gated_act_gemm)
    if key not in _cache_permute_indices:
        rows = _shuffled_rows(dst_w2_weight, epilogue_tile_m, num_elts_per_sf)
        _cache_permute_indices[key] = rows.to(dst_w2_weight.device)
    return _cache_permute_indices[key]


def _shuffled_rows(
    weight: torch.Tensor, epilogue_tile_m: int, num_elts_per_sf: int | None
) -> torch.Tensor:
    if num_elts_per_sf is None:
        return get_shuffle_matrix_a_row_indices(weight, epilogue_tile_m)
    return get_shuffle_matrix_sf_a_row_indices(weight, epilogue_tile_m, num_elts_per_sf)


def _copied(x: torch.Tensor) -> torch.Tensor:
    return x.clone(memory_format=torch.contiguous_format)


def _matrix(name: str, x: torch.Tensor) -> tuple[int, int]:
    if x.ndim != 2:
        raise ValueError(f"{name}: the tensor has shape {tuple(x.shape)}; pass it as (rows, cols)")
    return x.shape[0], x.shape[1]


def _whole(name: str, x: torch.Tensor, of: str, size: int, block: int) -> None:
    if block <= 0 or size % block:
        raise ValueError(
            f"{name}: the tensor has shape {tuple(x.shape)}; its {of} must be a multiple of {block}"
        )


def _check_scales(name: str, scales: torch.Tensor, num_elts_per_sf: int) -> None:
    if scales.dtype not in (torch.uint8, torch.bfloat16):
        raise TypeError(f"{name}: the scales are {scales.dtype}; accepted: uint8, bfloat16")
    if num_elts_per_sf not in (16, 32):
        raise ValueError(f"{name}: num_elts_per_sf is {num_elts_per_sf}; accepted: 16, 32")
    _whole(name, scales, "rows", _matrix(name, scales)[0], 128)
