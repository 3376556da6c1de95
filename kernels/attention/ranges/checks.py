"""Ranges of keys and their windows, checked in words."""

from __future__ import annotations

from functools import lru_cache

import torch

from .._settings import VALIDATE, is_on

_ALL = (1 << 31) - 1


def refuse_masks(op: str, **masks: object) -> None:
    """Refuse other masks; their defaults are accepted."""
    for name, value in masks.items():
        if isinstance(value, torch.Tensor) or (value is not None and value != 0):
            raise ValueError(
                f"{op}: argument '{name}' is given; what queries see is said by run(): "
                "bidirectional_ranges, causal_window_left and range_window_left"
            )


def check_ranges(op: str, ranges: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """Return the ranges if they are those of q's queries."""
    if not isinstance(ranges, torch.Tensor) or ranges.dtype is not torch.int32:
        what = ranges.dtype if isinstance(ranges, torch.Tensor) else type(ranges).__name__
        raise ValueError(
            f"{op}: argument 'bidirectional_ranges' is of {what}; pass a tensor of torch.int32"
        )
    if tuple(ranges.shape) != (q.shape[0], 2):
        raise ValueError(
            f"{op}: argument 'bidirectional_ranges' has shape {tuple(ranges.shape)}; it is "
            f"({q.shape[0]}, 2), a row for each query"
        )
    if ranges.device != q.device:
        raise ValueError(
            f"{op}: argument 'bidirectional_ranges' is on {ranges.device}, q on {q.device}"
        )
    if not ranges.is_contiguous():
        raise ValueError(
            f"{op}: argument 'bidirectional_ranges' is not contiguous: strides {ranges.stride()}; "
            "pass bidirectional_ranges.contiguous()"
        )
    if is_on(VALIDATE):
        _check_order(op, ranges)
    return ranges


def _check_order(op: str, ranges: torch.Tensor) -> None:
    """Raise ValueError for a range that ends before it begins. It waits for the GPU."""
    if ranges.device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        return
    wrong = (ranges[:, 0] > ranges[:, 1]).nonzero()
    if len(wrong):
        at = int(wrong[0])
        raise ValueError(
            f"{op}: argument 'bidirectional_ranges' is {tuple(ranges[at].tolist())} at query {at}; "
            "the first key comes first, and (-1, -1) stands for none"
        )


@lru_cache(maxsize=64)
def windows_of(causal: int, of_range: int) -> torch.Tensor:
    """Return the greatest distances back to a key, in fp64 on the CPU, as kernels read them."""
    back = causal if 0 <= causal <= _ALL else _ALL
    in_range = of_range - 1 if 0 < of_range <= _ALL else _ALL
    return torch.tensor([back, in_range], dtype=torch.float64)
