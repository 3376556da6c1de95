"""Sizes of packbits that users meet: attention masks, of one request and of a batch of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

_SMALL = (1, 8, 9, 1000, 16_385)
_MASKS = (8192, 512 * 4096, 4096 * 4096, 16384 * 16384)
_SMALL_SEGMENTS = ((1, 8), (3, 100), (40, 1000), (1000, 4000))
# Requests, and queries times keys of all of them together.
_BATCHES = ((16, 16 * 8192), (64, 64 * 4096), (16, 16 * 512 * 4096), (1, 8192 * 8192))


def cases() -> Iterator[Case]:
    for elements in (*_SMALL, *_MASKS):
        yield Case("packbits", {"elements": elements}, "bool")
    for segments, elements in (*_SMALL_SEGMENTS, *_BATCHES):
        packed = (elements + 7 * segments) // 8
        sizes = {"elements": elements, "len_indptr": segments + 1, "packed": packed}
        yield Case("segment_packbits", sizes, "bool")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    if function == "segment_packbits":
        return {"flashinfer": _flashinfer_segments}
    return {"torch": _torch, "inductor": compiled(_torch), "flashinfer": _flashinfer}


def _torch(x: torch.Tensor) -> torch.Tensor:
    eights = torch.nn.functional.pad(x.to(torch.uint8), (0, -len(x) % 8)).view(-1, 8)
    shifts = torch.arange(7, -1, -1, device=x.device, dtype=torch.uint8)
    return (eights << shifts).sum(dim=1, dtype=torch.uint8)


def _flashinfer(x: torch.Tensor) -> Callable[[], torch.Tensor]:
    flashinfer: Any = import_module("flashinfer")
    return lambda: flashinfer.packbits(x)


def _flashinfer_segments(
    x: torch.Tensor, indptr: torch.Tensor, out: torch.Tensor
) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
    """segment_packbits of FlashInfer without its wait for the size of the result."""
    module = import_module("flashinfer.quantization.packbits").get_quantization_module()
    length = int(((indptr.diff() + 7) // 8).sum())

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        packed_indptr = torch.zeros_like(indptr)
        packed_indptr[1:] = ((indptr.diff() + 7) // 8).cumsum(0)
        module.segment_packbits(x, indptr, packed_indptr, "big", out)
        return out[:length], packed_indptr

    return run
