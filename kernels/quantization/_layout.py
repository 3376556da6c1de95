"""Layouts of the scales of quantized blocks, and their sizes."""

from __future__ import annotations

from enum import IntEnum

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
