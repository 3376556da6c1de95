"""Plan of a mask of blocks of any sizes: lists of runs, and the work list once lengths are known."""

from __future__ import annotations

from collections.abc import Callable

import torch

from .._arguments.options import Options
from .._settings import VALIDATE, is_on
from .attend import ENTRY, Listed, Tiling, no_items, tiling
from .checks import booleans, fits_int32, integers
from .fault import PlanFault

_WORDS = {
    "row_size": "argument 'block_row_sz' is {seen} at head {head}, block {index}; sizes are 0 or "
    "more",
    "col_size": "argument 'block_col_sz' is {seen} at head {head}, block {index}; sizes are 0 or "
    "more",
    "row_sizes": "argument 'block_row_sz' adds up to {seen} at head {head}, where q has {bound} "
    "queries: pass sizes whose sum is that of every head",
    "col_sizes": "argument 'block_col_sz' adds up to {seen} at head {head}, where k has {bound} "
    "keys: pass sizes whose sum is that of every head",
    "too_long": "the blocks of head {head} go to token {seen} at block {index}; there are at most "
    "{bound}",
}


class MaskPlan:
    """A plan of VariableBlockSparseAttentionWrapper.

    How many tokens there are is known to run() alone, for the host does not read the sizes. So the
    work list is made there, once for as many tokens.
    """

    def __init__(
        self,
        op: str,
        list_mask: Callable[..., None],
        share_mask: Callable[..., None],
        device: torch.device,
        asked: str,
        chosen: Options,
    ) -> None:
        self._op = op
        self._list_mask = list_mask
        self._share_mask = share_mask
        self._device = device
        self._asked = asked
        self._chosen = chosen
        self._validates = is_on(VALIDATE)
        self._shared: tuple[tuple[int, int], Listed, Tiling] | None = None
        self.fault = PlanFault(op, device, _WORDS)

    def plan(self, mask: torch.Tensor, row_sizes: torch.Tensor, col_sizes: torch.Tensor) -> None:
        """List the runs of every row of blocks."""
        heads = self._chosen.kv_heads
        if mask.ndim != 3 or mask.shape[0] != heads:
            raise ValueError(
                f"{self._op}: argument 'block_mask_map' has shape {tuple(mask.shape)}; it is "
                f"({heads} heads of keys, row blocks, column blocks)"
            )
        _, rows, cols = mask.shape
        fits_int32(self._op, "the rows of blocks of all heads", heads * rows)
        selected = booleans(self._op, "block_mask_map", mask, (heads, rows, cols), self._device)
        row_sizes = integers(self._op, "block_row_sz", row_sizes, (heads, rows), self._device)
        col_sizes = integers(self._op, "block_col_sz", col_sizes, (heads, cols), self._device)

        def room(*shape: int) -> torch.Tensor:
            return torch.empty(shape, dtype=torch.int32, device=self._device)

        self._pitch = 1 + (cols + 1) // 2
        self._lists = room(heads * rows, self._pitch, ENTRY)
        self._row_starts, self._col_starts = room(heads, rows + 1), room(heads, cols + 1)
        self._list_mask(
            self._op,
            self._lists,
            self._row_starts,
            self._col_starts,
            self.fault.numbers,
            selected,
            row_sizes,
            col_sizes,
            True,
        )
        self.fault.send(wait=self._validates)

    def share(self, queries: int, keys: int) -> tuple[Listed, Tiling]:
        """Share out the work for as many tokens: the lists, and the kernel."""
        if self._shared is not None and self._shared[0] == (queries, keys):
            return self._shared[1:]
        chosen, heads, blocks = self._chosen, self._chosen.kv_heads, self._row_starts.shape[1] - 1
        # Why: tensor maps have no tokens to point to where there are none.
        asked = self._asked if keys else "fa2"
        tile = tiling(self._op, self._device, asked, chosen, queries, blocks)
        count = heads * (queries * chosen.group // tile.used + blocks)
        items = no_items(fits_int32(self._op, "the tiles of queries", count), self._device)
        self._share_mask(
            self._op,
            items,
            torch.empty((heads, blocks), dtype=torch.int32, device=self._device),
            self._lists,
            self._row_starts,
            self._col_starts,
            self.fault.numbers,
            queries,
            keys,
            tile.used,
            chosen.group,
            chosen.causal,
            True,
        )
        self.fault.send(wait=self._validates or self._device.type != "cuda")
        listed = Listed(items, self._lists, self._pitch)
        self._shared = ((queries, keys), listed, tile)
        return listed, tile
