"""Page tables checked before kernels read them: FICTL_VALIDATE_INPUTS."""

from __future__ import annotations

import torch

from .lengths import Lengths


def check_pages(op: str, pages: torch.Tensor, count: int, lengths: Lengths) -> None:
    """Raise ValueError for an index of a page that is not in the cache. It waits for the GPU."""
    if pages.device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        return
    first, last = int(lengths.kv[0]), int(lengths.kv[-1])
    used = pages[first:last]
    if not used.numel():
        return
    outside = ((used < 0) | (used >= count)).nonzero()
    if len(outside):
        at = int(outside[0])
        request = int(torch.searchsorted(lengths.kv, first + at, right=True)) - 1
        raise ValueError(
            f"{op}: the page index at {first + at} is {int(used[at])}, of request {request}; the "
            f"cache has {count} pages"
        )
