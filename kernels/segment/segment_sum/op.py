"""SegmentSum: add up the rows of each segment of a ragged batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch

from fictl.op import KernelModule, op

from .plan import Plan, Sizes, make_plan

kernel = KernelModule(__file__)


class Walk(NamedTuple):
    """How the work is shared out: stretches of the plan a walker; 0 leaves it to the kernel.

    Fewer fill more SMs, more save the loads that a walker starts with. No sum depends on it.
    """

    units: int = 0


def walks() -> Iterator[Walk]:
    return map(Walk, (0, 1, 2, 4, 8))


class SegmentSum:
    """out[s] = input[indptr[s]:indptr[s + 1]].sum(0), rounded once from fp32; 0 without rows.

    The sum of a segment is the same, bit by bit, whatever is batched with it.

    max_rows: the first plan makes room for as many rows, and later ones, of as many segments, take
        its place: a CUDA graph of run() goes on with them. None fits the memory to each plan.
    device: where run's tensors are. None is where plan's indptr is.
    """

    def __init__(
        self, max_rows: int | None = None, device: torch.device | str | None = None
    ) -> None:
        self._max_rows = max_rows
        self._device = device
        self._plan: Plan | None = None

    def plan(self, indptr: torch.Tensor) -> None:
        """Share out the work of the segments evenly, for any number of run().

        indptr: (segments + 1,), int32; where each segment starts, and where the last one ends. It
            is read on the host: one that is on a GPU is waited for, one on the CPU is not.
        """
        host, room = _checked(indptr), None
        if self._max_rows is not None:
            room = Sizes.most(self._max_rows, len(host) - 1)
            _check_room(host, self._plan.sizes if self._plan else room)
        made = make_plan(host, room)
        if self._plan is None or room is None:
            device = indptr.device if self._device is None else self._device
            self._plan = Plan.empty(made.sizes, device)
        self._plan.take(made)

    @op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out", tactics=walks)
    def run(
        self,
        input: torch.Tensor,
        out: torch.Tensor | None = None,
        enable_pdl: bool | None = None,
        tactic: Walk | None = None,
    ) -> torch.Tensor:
        """The sums of the segments of the last plan().

        input: (rows, dim); the elements of a row are neighbours, the rows at any pitch. At least
            as many as indptr says, or max_rows; those beyond are of no segment.
        out: (segments, dim), not in input. None allocates it.
        enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
        tactic: how to share out the work. None is the one tuned for such sizes, or the usual.
        """
        if self._plan is None:
            raise RuntimeError("SegmentSum: run() was called before plan()")
        plan, sizes = self._plan, self._plan.sizes
        dim = input.shape[-1]
        if out is None:
            out = input.new_empty((sizes.segments, dim))
        (units,) = tactic or Walk()
        workspace = input.new_empty((sizes.partials, dim), dtype=torch.float32)
        kernel.segment_sum(
            out,
            input,
            plan.pieces,
            plan.units,
            plan.merges,
            workspace,
            sizes.rows,
            sizes.segments,
            sizes.partials,
            units,
            enable_pdl is None or enable_pdl,
        )
        return out


def _checked(indptr: torch.Tensor) -> torch.Tensor:
    """On the host."""
    if indptr.dtype != torch.int32 or indptr.dim() != 1 or not len(indptr):
        raise ValueError(
            f"SegmentSum: argument 'indptr' has shape {tuple(indptr.shape)} and dtype "
            f"{indptr.dtype}; it is (segments + 1,) of torch.int32"
        )
    host = indptr.cpu()
    falls = host.diff() < 0
    if int(host[0]) != 0 or bool(falls.any()):
        at = int(falls.int().argmax()) if int(host[0]) == 0 else 0
        raise ValueError(
            f"SegmentSum: argument 'indptr' is {host[at : at + 2].tolist()} at {at}; "
            "it starts at 0 and never falls"
        )
    return host


def _check_room(indptr: torch.Tensor, room: Sizes) -> None:
    segments, rows = len(indptr) - 1, int(indptr[-1])
    if segments != room.segments or rows > room.rows:
        raise ValueError(
            f"SegmentSum: argument 'indptr' has {segments} segments of {rows} rows; there is room "
            f"for {room.segments} segments of up to {room.rows}: pad it with its last value, or "
            "make another SegmentSum(max_rows=…)"
        )
