"""Sizes of RaggedSum that users meet: small ones, and batches of a few and of many requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from fictl.trace import Case

_SMALL = ((1, 1, 8), (5, 37, 64), (2, 300, 33), (40, 20, 264))
_BATCHES = ((8, 16384, 4096), (64, 65536, 1024), (64, 1 << 18, 1024), (256, 1 << 19, 128))


def cases() -> Iterator[Case]:
    for segments, rows, dim in _SMALL:
        for dtype in ("float16", "bfloat16", "float32"):
            yield _case(segments, rows, dim, dtype)
    for segments, rows, dim in _BATCHES:
        yield _case(segments, rows, dim, "bfloat16")


def _case(segments: int, rows: int, dim: int, dtype: str) -> Case:
    axes = ("len_indptr", "rows", "dim")
    sizes = dict(zip(axes, (segments + 1, rows, dim), strict=True))
    return Case("RaggedSum", sizes, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch}


def _torch(indptr: torch.Tensor, x: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Add rows by indices computed before, as our plan is."""
    segment = torch.repeat_interleave(indptr.diff().long())
    shape = (len(indptr) - 1, x.shape[1])
    sums = torch.zeros(shape, dtype=torch.float32, device=x.device)

    def run() -> torch.Tensor:
        return sums.zero_().index_add_(0, segment, x.float()).to(x.dtype)

    return run
