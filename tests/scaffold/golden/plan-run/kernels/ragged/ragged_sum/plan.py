"""Plan of ragged_sum: segments cut into items, one per block, and the merges of their sums."""

from __future__ import annotations

from dataclasses import dataclass

import torch

ITEM_ROWS = 256
NOTHING = (-1, 0, 0, -1)


@dataclass(frozen=True)
class Sizes:
    """Numbers of rows, segments and parts of a plan, or their bounds."""

    rows: int
    segments: int
    items: int
    merges: int
    partials: int

    @classmethod
    def most(cls, rows: int, segments: int) -> Sizes:
        """Return sizes that suffice for any distribution of the rows."""
        full, merges = rows // ITEM_ROWS, rows // (ITEM_ROWS + 1)
        return cls(rows, segments, segments + full, merges, merges + full if merges else 0)


def make_plan(indptr: torch.Tensor, room: Sizes | None, pin: bool) -> tuple[Sizes, torch.Tensor]:
    """Make the plan on the host: lines of (segment, start, stop, partial), items and then merges.

    `room` is how large to make it, whatever there is. With `pin` it can be copied while the host
    goes on.
    """
    items, merges = _lines(indptr)
    partials = int((items[:, 3] >= 0).sum())
    sizes = room or Sizes(int(indptr[-1]), len(indptr) - 1, len(items), len(merges), partials)
    plan = torch.empty((sizes.items + sizes.merges, 4), dtype=torch.int32, pin_memory=pin)
    plan[:] = torch.tensor(NOTHING, dtype=torch.int32)
    plan[: len(items)] = items
    plan[sizes.items :][: len(merges)] = merges
    return sizes, plan


def _lines(indptr: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the items, and the merges of segments that have several."""
    starts, stops = indptr[:-1].long(), indptr[1:].long()
    counts = ((stops - starts + ITEM_ROWS - 1) // ITEM_ROWS).clamp(min=1)
    segment = torch.repeat_interleave(counts)
    number = torch.arange(len(segment)) - (counts.cumsum(0) - counts)[segment]
    start = starts[segment] + ITEM_ROWS * number
    stop = torch.minimum(start + ITEM_ROWS, stops[segment])
    several = (counts > 1)[segment]
    partial = torch.where(several, several.cumsum(0) - 1, -1)

    merged = (counts > 1).nonzero()[:, 0]
    last = counts[merged].cumsum(0)
    merges = (merged, last - counts[merged], last, torch.full_like(last, -1))
    return torch.stack((segment, start, stop, partial), 1), torch.stack(merges, 1)
