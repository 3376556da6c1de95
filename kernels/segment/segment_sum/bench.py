"""Sizes of SegmentSum that users meet: many short segments, few long ones, and odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

_SMALL = ((1, 1, 8), (5, 37, 64), (3, 200, 111), (40, 20, 128), (2, 150, 1000))
# Segments of 1, 8 and 32 rows on the average, then of thousands.
_SHORT = ((16384, 16384, 4096), (8192, 65536, 1024), (32768, 1 << 20, 128))
_LONG = ((8, 16384, 4096), (16, 131072, 512), (4, 1 << 20, 64))
_DECODE = ((64, 512, 4096), (128, 4096, 4096))


def cases() -> Iterator[Case]:
    for segments, rows, dim in _SMALL:
        for dtype in ("float16", "bfloat16", "float32"):
            yield _case(segments, rows, dim, dtype)
    for segments, rows, dim in (*_DECODE, *_SHORT, *_LONG):
        yield _case(segments, rows, dim, "bfloat16")


def _case(segments: int, rows: int, dim: int, dtype: str) -> Case:
    return Case("SegmentSum", {"len_indptr": segments + 1, "rows": rows, "dim": dim}, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch, "inductor": _inductor}


def _torch(indptr: torch.Tensor, input: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Add rows by indices computed before, as our plan is."""
    segment = _segments(indptr)
    return lambda: _added(input, segment, len(indptr) - 1)


def _inductor(indptr: torch.Tensor, input: torch.Tensor) -> Callable[[], torch.Tensor]:
    return _compiled(input=input, segment=_segments(indptr), segments=len(indptr) - 1)


def _segments(indptr: torch.Tensor) -> torch.Tensor:
    return torch.repeat_interleave(indptr.diff().long())


def _added(input: torch.Tensor, segment: torch.Tensor, segments: int) -> torch.Tensor:
    sums = torch.zeros((segments, input.shape[1]), dtype=torch.float32, device=input.device)
    return sums.index_add_(0, segment, input.float()).to(input.dtype)


_compiled = compiled(_added)
