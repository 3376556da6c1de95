"""histogram: a histogram of every row."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="counts")
def histogram(
    x: torch.Tensor,
    bins: int = 256,
    low: float = 0.0,
    high: float = 1.0,
    counts: torch.Tensor | None = None,
) -> torch.Tensor:
    """Count the elements of every row in equal bins from low to high, as torch.histc does.

    high belongs to the last bin; elements outside, and NaN, are not counted. An element x is in bin
    floor((x - low) * (bins / (high - low))), in fp32. For indices from 0 to n - 1, as those of
    experts, bins=n, low=0 and high=n - 1 count each of them.

    x: (rows, cols); last dimension contiguous, all rows at one stride. A whole tensor is
        one row, x.view(1, -1), which all SMs share.
    bins: their number; up to 8192 are counted in shared memory.
    low, high: where the first bin begins and the last one ends.
    counts: (rows, bins), int32, contiguous. None allocates it.
    """
    if counts is None:
        counts = x.new_empty((*x.shape[:-1], max(bins, 0)), dtype=torch.int32)
    kernel.histogram(counts, x, bins, low, high)
    return counts
