"""Plan of a block-sparse matrix in rows (BSR) that all heads share."""

from __future__ import annotations

from collections.abc import Callable

import torch

from .._arguments.options import Options
from .._settings import VALIDATE, is_on
from .attend import ENTRY, Listed, no_items, tiling
from .checks import booleans, fits_int32, integers
from .fault import PlanFault

_WORDS = {
    "offsets": "argument 'indptr' goes from {head} to {seen} at row {index}; it starts at 0 or "
    "later, never falls, and ends within the {bound} indices",
    "index": "argument 'indices' is {seen} at {index}, of row {head}; there are {bound} blocks of "
    "keys",
    "too_long": "row {index} selects {seen} keys; there are at most {bound}",
}


class RowsPlan:
    """A plan of BlockSparseAttentionWrapper: `tokens` are queries and keys, `block` is (R, C)."""

    def __init__(
        self,
        op: str,
        plan_rows: Callable[..., None],
        device: torch.device,
        asked: str,
        tokens: tuple[int, int],
        block: tuple[int, int],
        chosen: Options,
    ) -> None:
        for names, count, size in zip(("MR", "NC"), tokens, block, strict=True):
            if size < 1 or count < 0 or count % size:
                raise ValueError(
                    f"{op}: arguments '{names[0]}' and '{names[1]}' are {count} and {size}; the "
                    "second is at least 1, and divides the first"
                )
            fits_int32(op, f"{names[0]}, in rows of heads,", count * chosen.group)
        self._op = op
        self._plan_rows = plan_rows
        self._device = device
        self._block = block
        self._chosen = chosen
        self._blocks = (tokens[0] // block[0], tokens[1] // block[1])
        self.tokens = tokens
        self.fault = PlanFault(op, device, _WORDS)
        # Why: tensor maps have no tokens to point to where there are none.
        asked = asked if tokens[1] else "fa2"
        self.tile = tiling(op, device, asked, chosen, tokens[0], self._blocks[0])

    def plan(
        self,
        indptr: torch.Tensor,
        indices: torch.Tensor,
        mask: torch.Tensor | None,
        packed: torch.Tensor | None,
    ) -> None:
        """List the runs of every row, and share out the work."""
        op, device, chosen = self._op, self._device, self._chosen
        rows, cols = self._blocks
        height, width = self._block
        indptr = integers(op, "indptr", indptr, (rows + 1,), device)
        nnz = indices.shape[0] if indices.ndim == 1 else -1
        indices = integers(op, "indices", indices, (max(nnz, 0),), device)
        lists = torch.empty((nnz + rows, ENTRY), dtype=torch.int32, device=device)
        tiles = -(-height * chosen.group // self.tile.used)
        count = fits_int32(op, "the tiles of queries", chosen.kv_heads * rows * tiles)
        items = no_items(count, device)
        bits, starts = None, None
        if packed is not None:
            mask = None
        if mask is not None:
            mask = booleans(op, "mask", mask, (nnz, height, width), device)
        if mask is not None or packed is not None:
            bits, starts = self._bits(indptr, nnz, packed)
        self._plan_rows(
            op,
            items,
            lists,
            self.fault.numbers,
            indptr,
            indices,
            starts,
            mask,
            bits,
            height,
            width,
            cols,
            chosen.kv_heads,
            self.tile.used,
            chosen.group,
            chosen.causal and bits is None,
            True,
        )
        self.fault.send(wait=is_on(VALIDATE))
        self.listed = Listed(items, lists, 1, bits)

    def _bits(
        self, indptr: torch.Tensor, nnz: int, packed: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Find room for the bits of a mask, or those given, and where each row's begin."""
        scores = self._block[0] * self._block[1]
        # Rows from a byte of their own on lose less than one byte each.
        most = fits_int32(self._op, "the bytes of the mask", nnz * scores // 8 + len(indptr))
        sizes = (indptr.diff().long() * scores + 7) // 8
        starts = torch.nn.functional.pad(sizes.cumsum(0), (1, 0))
        if packed is None:
            return torch.empty(most, dtype=torch.uint8, device=self._device), starts
        least = -(-nnz * scores // 8)
        if packed.dtype is not torch.uint8 or packed.numel() < least:
            raise ValueError(
                f"{self._op}: argument 'packed_mask' has {packed.numel()} elements of "
                f"{packed.dtype}; {nnz} blocks of {self._block[0]} x {self._block[1]} take "
                f"{least} of torch.uint8 or more"
            )
        bits = packed.to(self._device).contiguous().view(-1)
        # Why: how many bytes the rows take, which begin at bytes of their own, is on the device.
        return torch.nn.functional.pad(bits, (0, max(most - len(bits), 0))), starts
