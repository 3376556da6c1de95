"""Plan of segment_sum: segments cut into pieces, and pieces distributed evenly."""

from __future__ import annotations

from dataclasses import dataclass

import torch

# As segment_sum.cuh has them.
_PIECE_ROWS = 64
_UNIT = 16


@dataclass(frozen=True)
class Sizes:
    """Numbers of rows, segments and parts of a plan."""

    rows: int
    segments: int
    pieces: int
    units: int
    merges: int
    partials: int

    @classmethod
    def most(cls, rows: int, segments: int) -> Sizes:
        """Return sizes that suffice for any distribution of the rows."""
        pieces = segments + rows // _PIECE_ROWS
        merges = rows // (_PIECE_ROWS + 1)
        return cls(
            rows,
            segments,
            pieces,
            -(-(rows + pieces) // _UNIT),
            merges,
            merges + rows // _PIECE_ROWS if merges else 0,
        )


@dataclass(frozen=True)
class Plan:
    """One tensor, and views of its three parts, as segment_sum.cuh describes them."""

    sizes: Sizes
    memory: torch.Tensor

    @classmethod
    def empty(cls, sizes: Sizes, device: torch.device | str) -> Plan:
        numbers = 2 * (sizes.pieces + 2) + 2 * (sizes.merges + 1) + sizes.units + 1
        return cls(sizes, torch.empty(numbers, dtype=torch.int32, device=device))

    def take(self, host: Plan) -> None:
        """Copy a plan of the same sizes, without waiting for the GPU."""
        source = host.memory.pin_memory() if self.memory.is_cuda else host.memory
        self.memory.copy_(source, non_blocking=True)

    @property
    def pieces(self) -> torch.Tensor:
        return self.memory[: 2 * (self.sizes.pieces + 2)].view(-1, 2)

    @property
    def merges(self) -> torch.Tensor:
        end = self.memory.numel() - self.sizes.units - 1
        return self.memory[end - 2 * (self.sizes.merges + 1) : end].view(-1, 2)

    @property
    def units(self) -> torch.Tensor:
        return self.memory[self.memory.numel() - self.sizes.units - 1 :]


def make_plan(indptr: torch.Tensor, room: Sizes | None = None) -> Plan:
    """Make the plan on the host, where `indptr` is; pad it to the sizes of `room`, if given."""
    ends, lengths = indptr.long(), indptr.long().diff()
    count = ((lengths + _PIECE_ROWS - 1) // _PIECE_ROWS).clamp(min=1)
    segment = torch.repeat_interleave(count)
    position = torch.arange(len(segment)) - (count.cumsum(0) - count)[segment]
    row = ends[segment] + _PIECE_ROWS * position

    several = count > 1
    partials = torch.where(several, count, 0)
    first = partials.cumsum(0) - partials
    target = torch.where(several[segment], ~(first[segment] + position), segment)

    last, pieces = int(ends[-1]), len(row)
    starts = torch.arange(0, last + pieces, _UNIT)
    units = torch.searchsorted(row + torch.arange(pieces), starts)
    merged = several.nonzero()[:, 0]
    sizes = room or Sizes(last, len(lengths), pieces, len(units), len(merged), int(partials.sum()))
    plan = Plan.empty(sizes, "cpu")
    _fill(plan.pieces, torch.stack([row, target], 1), (last, 0))
    _fill(plan.merges, torch.stack([first[merged], merged], 1), (int(partials.sum()), 0))
    _fill(plan.units, units, pieces)
    return plan


def _fill(into: torch.Tensor, values: torch.Tensor, end: tuple[int, int] | int) -> None:
    """Write the values, and repeat the end behind them."""
    into[: len(values)] = values
    into[len(values) :] = torch.tensor(end, dtype=into.dtype)
