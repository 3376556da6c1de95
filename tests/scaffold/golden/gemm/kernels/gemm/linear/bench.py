"""Sizes of linear that users meet: decode steps and prefills against weights of models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch

from fictl.trace import Case

_DTYPES = ("bfloat16",)
_FEW = (1, 17, 100)
_SMALL = ((24, 8), (200, 328))
_TOKENS = (1, 16, 64, 512, 4096, 8192)
_WEIGHTS = ((4096, 4096), (14336, 4096), (8192, 8192))


def cases() -> Iterator[Case]:
    small, large = product(_FEW, _SMALL, _DTYPES), product(_TOKENS, _WEIGHTS, _DTYPES)
    for m, (n, k), dtype in dict.fromkeys((*small, *large)):
        yield Case("linear", {"m": m, "n": n, "k": k}, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch}


def _torch(a: torch.Tensor, b: torch.Tensor) -> Callable[[], torch.Tensor]:
    out = a.new_empty((len(a), len(b)))
    return lambda: torch.mm(a, b.T, out=out)
