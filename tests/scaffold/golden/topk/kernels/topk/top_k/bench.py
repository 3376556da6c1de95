"""Sizes of top_k that users meet: experts of a layer, scores of blocks, vocabularies; odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from fictl.trace import Case

# Rows, elements of a row, k.
_SMALL = ((1, 8, 8), (5, 111, 3), (3, 1000, 50), (2, 4099, 4))
_LARGE = ((8192, 256, 8), (4096, 4096, 64), (64, 128256, 50), (256, 151936, 50), (16, 262144, 2048))


def cases() -> Iterator[Case]:
    for sizes in _SMALL:
        for dtype in ("float16", "bfloat16", "float32"):
            yield _case(*sizes, dtype)
    for sizes in _LARGE:
        yield _case(*sizes, "bfloat16")


def _case(rows: int, cols: int, k: int, dtype: str) -> Case:
    return Case("top_k", {"rows": rows, "vocab": cols, "k": k}, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch}


def _torch(logits: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    values, indices = torch.topk(logits, k)
    return values, indices.to(torch.int32)
