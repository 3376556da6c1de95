"""Where the scales of quantized blocks lie, and how large that is."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["SfLayout"]


class SfLayout(IntEnum):
    """Of scales, a row for each row of values and a byte for each block in it.

    The first two are tiles of 128 or 8 rows and 4 columns, as tensor cores read them; rows and
    columns are padded with zeros to whole tiles.
    """

    layout_128x4 = 0
    layout_8x4 = 1
    layout_linear = 2

    @classmethod
    def swizzled(cls, is_swizzled: bool, is_8x4: bool = False) -> SfLayout:
        """The one that a pair of flags means."""
        if not is_swizzled:
            return cls.layout_linear
        return cls.layout_8x4 if is_8x4 else cls.layout_128x4


_TILE_ROWS = {0: 128, 1: 8}


def scales_shape(layout: int, rows: int, blocks: int) -> tuple[int, int]:
    """Rows and columns in memory; a layout that is none is left for others to refuse."""
    tile = _TILE_ROWS.get(layout)
    if tile is None:
        return rows, blocks
    return -(-rows // tile) * tile, -(-blocks // 4) * 4
