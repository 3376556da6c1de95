"""Layouts of the scales of quantized blocks, and their sizes."""

from __future__ import annotations

from enum import IntEnum

import torch

__all__ = ["SfLayout"]


class SfLayout(IntEnum):
    """Layout of scales, which are a matrix of one row per row of values and one byte per block.

    The first two are tiles of 128 or 8 rows and 4 columns, as tensor cores read them; rows and
    columns are padded with zeros to whole tiles.
    """

    layout_128x4 = 0
    layout_8x4 = 1
    layout_linear = 2

    @classmethod
    def swizzled(cls, is_swizzled: bool, is_8x4: bool = False) -> SfLayout:
        """Return the layout that a pair of flags selects."""
        if not is_swizzled:
            return cls.layout_linear
        return cls.layout_8x4 if is_8x4 else cls.layout_128x4


_TILE_ROWS = {0: 128, 1: 8}


def scales_shape(layout: int, rows: int, blocks: int) -> tuple[int, int]:
    """Return rows and columns in memory; an unknown layout is left for the binding to refuse."""
    tile = _TILE_ROWS.get(layout)
    if tile is None:
        return rows, blocks
    return -(-rows // tile) * tile, -(-blocks // 4) * 4


def row_major(name: str, scales: torch.Tensor, rows: int, cols: int, layout: int) -> torch.Tensor:
    """Return the scales of a layout as (rows, cols), without its padding."""
    if layout not in (*SfLayout,):
        raise ValueError(f"{name}: the layout of the scales is {layout}; accepted: {[*SfLayout]}")
    padded = scales_shape(layout, rows, cols)
    if scales.numel() != padded[0] * padded[1]:
        raise ValueError(
            f"{name}: there are {scales.numel()} scales; {rows} rows of {cols} blocks take "
            f"{padded[0] * padded[1]} in {SfLayout(layout)!r}"
        )
    if layout == SfLayout.layout_linear:
        return scales.reshape(padded)
    tile = _TILE_ROWS[layout]
    height = min(tile, 32)
    tiles = scales.reshape(padded[0] // tile, padded[1] // 4, height, tile // height, 4)
    return tiles.permute(0, 3, 2, 1, 4).reshape(padded)[:rows, :cols]
