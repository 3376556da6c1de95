"""FP4Tensor: two 4-bit values a byte with their scales, as a decode's output or a cache."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from fictl.errors import InvalidValue, WrongType

__all__ = ["FP4Tensor"]

_TILE = 128  # rows of scales that are stored together


class FP4Tensor:
    """A tensor of nvfp4: torch has no such dtype."""

    def __init__(
        self,
        data: torch.Tensor,
        scale: torch.Tensor,
        scale_start_index: int = 0,
        original_shape: Sequence[int] | None = None,
    ) -> None:
        """Hold `data`, uint8, and `scale`, float8_e4m3fn; row 0 has the scales of scale_start_index.

        `original_shape` is the shape before packing: its last size is up to twice that of `data`.
        """
        _check_dtypes((torch.uint8, torch.float8_e4m3fn), data=data, scale=scale)
        rows, scales = data.shape[0], scale.shape[0]
        if scales % _TILE:
            raise InvalidValue(f"FP4Tensor: scale has {scales} rows", f"a multiple of {_TILE}")
        if not 0 <= scale_start_index < scales or scale_start_index + rows > scales:
            raise InvalidValue(
                f"FP4Tensor: scale_start_index={scale_start_index} with {rows} rows of data",
                f"scale has {scales} rows",
            )
        packed = None if original_shape is None else _packed(original_shape)
        if packed is not None and tuple(data.shape) != packed:
            raise InvalidValue(
                f"FP4Tensor: data has the shape {tuple(data.shape)}",
                f"{tuple(original_shape or ())} packs into {packed}",
            )
        self.data = data
        self.scale = scale
        self.scale_start_index = scale_start_index
        self.original_shape = original_shape
        self.dtype = "nvfp4"


def _check_dtypes(dtypes: Sequence[torch.dtype], **tensors: torch.Tensor) -> None:
    for dtype, (name, tensor) in zip(dtypes, tensors.items(), strict=True):
        if tensor.dtype != dtype:
            raise WrongType(f"FP4Tensor: {name} is {tensor.dtype}", f"accepted: {dtype}")


def _packed(shape: Sequence[int]) -> tuple[int, ...]:
    return (*shape[:-1], -(-shape[-1] // 2))
