"""SegmentSum: sum the rows of each segment of a ragged batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch

from fictl.op import KernelModule, op

from .plan import Plan, Sizes, make_plan

kernel = KernelModule(__file__)


class Walk(NamedTuple):
    """Tactic: the number of units (stretches of the plan) per walker; 0 leaves it to the kernel.

    Fewer units fill more SMs; more of them save the loads that a walker starts with. The sums are
    the same.
    """

    units: int = 0


def walks() -> Iterator[Walk]:
    return map(Walk, (0, 1, 2, 4, 8))


class SegmentSum:
    """Compute out[s] = input[indptr[s]:indptr[s + 1]].sum(0), rounded once from fp32; 0 if empty.

    The sum of a segment is the same, bit by bit, in every batch.

    max_rows: allocate memory for plans of up to that many rows in the first plan; later ones, of as
        many segments, reuse it, so that a CUDA graph of run() stays valid. None allocates it for
        each plan.
    device: the device of run's tensors. None: that of plan's indptr.
    """

    def __init__(
        self, max_rows: int | None = None, device: torch.device | str | None = None
    ) -> None:
        self._max_rows = max_rows
        self._device = device
        self._plan: Plan | None = None

    def plan(self, indptr: torch.Tensor) -> None:
        """Distribute the work of the segments evenly, for any number of run().

        indptr: (segments + 1,), int32: where each segment starts, and where the last one ends. It
            is read on the host: one on a GPU is waited for.
        """
        host, room = _checked(indptr), None
        if self._max_rows is not None:
            room = Sizes.most(self._max_rows, len(host) - 1)
            _check_room(host, self._plan.sizes if self._plan else room)
        plan = make_plan(host, room)
        if self._plan is None or room is None:
            device = indptr.device if self._device is None else self._device
            self._plan = Plan.empty(plan.sizes, device)
        self._plan.take(plan)

    @op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out", tactics=walks)
    def run(
        self,
        input: torch.Tensor,
        out: torch.Tensor | None = None,
        enable_pdl: bool | None = None,
        tactic: Walk | None = None,
    ) -> torch.Tensor:
        """Compute the sums of the segments of the last plan().

        input: (rows, dim); last dimension contiguous, any row stride. At least indptr[-1] rows, or
            max_rows; those beyond belong to no segment.
        out: (segments, dim), not in input; last dimension contiguous, any row stride. None
            allocates it.
        enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
        tactic: how the work is distributed. None: the one tuned for such sizes, or the default.
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
    """Check `indptr`, and copy it to the host."""
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
