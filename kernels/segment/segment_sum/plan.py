"""What segment_sum does in which order: segments cut into pieces, pieces shared out evenly."""

from __future__ import annotations

from dataclasses import dataclass

import torch

# As segment_sum.cuh has them.
_PIECE_ROWS = 64
_UNIT = 16


@dataclass(frozen=True)
class Sizes:
    """How many rows there are of everything."""

    rows: int
    segments: int
    pieces: int
    units: int
    merges: int
    partials: int

    @classmethod
    def most(cls, rows: int, segments: int) -> Sizes:
        """What suffices however the rows are distributed."""
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
    """One tensor, and the three that lie in it, as segment_sum.cuh describes them."""

    sizes: Sizes
    memory: torch.Tensor

    @classmethod
    def empty(cls, sizes: Sizes, device: torch.device | str) -> Plan:
        numbers = 2 * (sizes.pieces + 2) + 2 * (sizes.merges + 1) + sizes.units + 1
        return cls(sizes, torch.empty(numbers, dtype=torch.int32, device=device))

    def take(self, host: Plan) -> None:
        """What a plan of the same sizes says; nothing waits for the GPU."""
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
    """On the host, where `indptr` lies; padded to the sizes of `room` if that is given."""
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
    """What lies behind the values is their end, again and again."""
    into[: len(values)] = values
    into[len(values) :] = torch.tensor(end, dtype=into.dtype)
