"""List of work that a plan leaves on the device for its kernels."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import NamedTuple

import torch

from .lengths import Lengths
from .refusals import refusal
from .shift import Shift

_ITEM = 12  # Numbers of int32, as work.cuh has them.
_COUNTERS = 2  # The last numbers of an item.
_MERGE = 8
_COUNTS = 8

# What cudaMemcpyAsync takes at once from memory that is not pinned: nothing is waited for, and
# pinned memory costs more to come by. A CUDA graph takes from pinned memory alone.
_STAGED = 64 * 1024 // 4

# Lists of which a CUDA graph that was captured copies again each time: they stay as they are.
_captured: list[torch.Tensor] = []


class Tiling(NamedTuple):
    """Numbers that the planner takes besides lengths, in its order."""

    rows: int
    group: int
    kv_heads: int
    slots: int
    causal: bool
    window_left: int
    custom_mask: bool
    split: bool
    fixed_split: int
    most_queries: int


class Counts(NamedTuple):
    """Counts of a plan. `part` is how many keys are in a part, 0 where no tile is split."""

    items: int
    merges: int
    partial_rows: int
    tiles: int
    part: int
    query_end: int
    key_end: int
    mask_end: int

    @property
    def numbers(self) -> int:
        """Number of int32 in the list."""
        return self.items * _ITEM + self.merges * _MERGE


class WorkList:
    """Items and merges in one tensor; plans go to one place for as long as they fit it.

    With `one_call` the call itself copies the list: `to_copy`.
    """

    def __init__(self, device: torch.device, *, one_call: bool = False) -> None:
        self._device = device
        self._on_gpu = device.type == "cuda"
        self._one_call = one_call
        self._room = 2048
        self._list = torch.empty(0, dtype=torch.int32, device=device)
        self._is_lent = False
        self._counts = array("q", bytes(8 * _COUNTS))
        self.items = self.merges = self._used = self._list
        self._abandoned = False
        self.to_copy: torch.Tensor | None = None
        self._placed = (-1, -1)

    @property
    def memory(self) -> torch.Tensor:
        """Memory on the device, of int32, which lists of later plans come to if they fit."""
        return self._list

    def take(self, workspace: torch.Tensor) -> None:
        """Put lists into the user's memory from now on: int32."""
        self._list, self._is_lent, self._placed = workspace, True, (-1, -1)

    def count(
        self, op: str, planner: Callable[..., None], lengths: Lengths, tiling: Tiling
    ) -> Counts:
        """Count what a plan would have."""
        return self._ask(op, planner, lengths, tiling, 0, 0)

    def draft(
        self, op: str, planner: Callable[..., None], lengths: Lengths, tiling: Tiling
    ) -> tuple[Counts, torch.Tensor]:
        """Plan; the list is still on the host."""
        while True:
            # Why a new one each time: the last one may not have been copied yet.
            pin = self._on_gpu and (
                self._room > _STAGED or torch.cuda.is_current_stream_capturing()
            )
            drafted = torch.empty(self._room, dtype=torch.int32, pin_memory=pin)
            counts = self._ask(op, planner, lengths, tiling, drafted.data_ptr(), self._room)
            if counts.numbers <= self._room:
                return _moved(counts, drafted, lengths.shift), drafted
            self._room = counts.numbers + counts.numbers // 4

    def _ask(
        self,
        op: str,
        planner: Callable[..., None],
        lengths: Lengths,
        tiling: Tiling,
        to: int,
        room: int,
    ) -> Counts:
        planner(
            _address(lengths.qo),
            _address(lengths.kv),
            _address(lengths.last_page_len),
            _address(lengths.kv_lens),
            lengths.requests,
            lengths.q_len,
            lengths.page_size,
            *tiling,
            to,
            room,
            self._counts.buffer_info()[0],
        )
        numbers = self._counts.tolist()
        if numbers[0] < 0:
            raise refusal(op, lengths, -numbers[0], numbers[1:4])
        return Counts(*numbers)

    def place(
        self, op: str, counts: Counts, drafted: torch.Tensor, fixed: bool, non_blocking: bool
    ) -> None:
        """Copy a draft to the device. `fixed`: a CUDA graph knows the place of the first one."""
        numbers = counts.numbers
        if numbers > self._list.numel():
            if self._is_lent:
                raise ValueError(
                    f"{op}: argument 'int_workspace_buffer' has {self._list.nbytes} bytes; this "
                    f"plan needs {4 * numbers}"
                )
            if fixed and self._list.numel():
                raise ValueError(
                    f"{op}: the plan needs a list of {4 * numbers} bytes; that of the first one, "
                    f"whose place CUDA graphs know, has {self._list.nbytes}: plan it with another "
                    "wrapper"
                )
            self._placed = (-1, -1)
            self._list = torch.empty(
                numbers if fixed else self._room, dtype=torch.int32, device=self._device
            )
        captured = self._on_gpu and torch.cuda.is_current_stream_capturing()
        if captured:
            _captured.append(drafted)
        if self._placed != (counts.items, counts.merges):
            self._show(counts)
        # Why not beyond: nobody but torch keeps pinned memory until it has been copied.
        if self._one_call and (captured or self._room <= _STAGED):
            self.to_copy = drafted.narrow(0, 0, numbers)
        else:
            self._used.copy_(drafted.narrow(0, 0, numbers), non_blocking=non_blocking)

    def stay(self) -> None:
        """Leave the list of `one_call` on the device for further calls: it has been copied."""
        self.to_copy = None

    def reset(self) -> None:
        """Clear what a failed run has left: persistent kernels count in the first item."""
        if self._abandoned:
            self.items[:1, -_COUNTERS:].zero_()
        self._abandoned = False

    def abandon(self) -> None:
        """Let reset() clear the counters: a run failed, and may have counted."""
        self._abandoned = True

    def _show(self, counts: Counts) -> None:
        """View the list as items and merges."""
        start, middle = self._list.storage_offset(), counts.items * _ITEM
        self.items = self._list.as_strided((counts.items, _ITEM), (_ITEM, 1), start)
        self.merges = self._list.as_strided((counts.merges, _MERGE), (_MERGE, 1), start + middle)
        self._used = self._list.narrow(0, 0, counts.numbers)
        self._placed = (counts.items, counts.merges)


def _moved(counts: Counts, drafted: torch.Tensor, shift: Shift | None) -> Counts:
    """Move a list of some requests of a batch to where their tokens are."""
    if shift is None:
        return counts
    middle = counts.items * _ITEM
    shift.items(drafted[:middle].view(-1, _ITEM))
    merges = drafted[middle : middle + counts.merges * _MERGE]
    shift.merges(merges.view(-1, _MERGE))
    return counts._replace(query_end=shift.query_end, key_end=shift.key_end)


def _address(x: torch.Tensor | None) -> int:
    return 0 if x is None else x.data_ptr()
