"""Sizes of top_k that users meet: vocabularies, and the scores of sparse attention."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.trace import Case

# Rows, elements of one, and k. The last of the small ones is counted in full.
_SMALL = ((1, 5, 5), (3, 111, 7), (2, 1000, 300), (2, 9000, 60), (1, 8195, 8190))
_SIZES = (
    (64, 131072, 2048),
    (1, 131072, 256),
    (64, 128256, 256),
    (1, 128256, 50),
    (256, 128256, 64),
    (8, 151936, 1024),
    (64, 32003, 256),
    (16, 65536, 2048),
    (1, 32768, 2048),
    (1024, 4096, 512),
    (4, 1 << 20, 4096),
)
_SMALL_SCORES = ((1, 9, 4), (3, 200, 16), (2, 9001, 64))
_SCORES = ((1, 65536, 2048), (64, 65536, 2048), (64, 8192, 2048), (1024, 16384, 2048))


def cases() -> Iterator[Case]:
    for rows, cols, k in (*_SMALL, *_SIZES):
        yield _top_k(rows, cols, k, "float32")
    for dtype in ("float16", "bfloat16"):
        yield _top_k(3, 111, 7, dtype)
    yield _top_k(64, 131072, 2048, "bfloat16")
    for function in ("top_k_page_table_transform", "top_k_ragged_transform"):
        for rows, most, k in (*_SMALL_SCORES, *_SCORES):
            yield _transform(function, rows, most, k, "float32")
        for dtype in ("float16", "bfloat16"):
            yield _transform(function, 3, 200, 16, dtype)

    for dtype in ("float32", "float16", "bfloat16"):
        yield _varlen(3, 200, 16, dtype)
    for requests, most, k in _SCORES:
        yield _varlen(requests, most, k, "float32")
    yield _varlen(64, 65536, 2048, "bfloat16")


def _top_k(rows: int, cols: int, k: int, dtype: str) -> Case:
    return Case("top_k", {"rows": rows, "cols": cols, "k": k}, dtype)


def _varlen(requests: int, most: int, k: int, dtype: str) -> Case:
    return Case("top_k_varlen", {"requests": requests, "max_len": most, "top_k": k}, dtype)


def _transform(function: str, rows: int, most: int, k: int, dtype: str) -> Case:
    sizes = {"rows": rows, "max_len": most, "k": k}
    if function == "top_k_page_table_transform":
        sizes |= {"batch_size": rows, "pages": most}
    return Case(function, sizes, dtype)


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    if function == "top_k":
        return {"torch": _torch, "flashinfer": _flashinfer(function)}
    if function == "top_k_varlen":
        return {"flashinfer": _flashinfer_varlen}
    return {"flashinfer": _flashinfer(function)}


def _torch(
    input: torch.Tensor, k: int, **flags: Any
) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
    def run() -> tuple[torch.Tensor, torch.Tensor]:
        values, indices = torch.topk(input, k, sorted=False)
        return values, indices

    return run


def _flashinfer(function: str) -> Callable[..., Callable[[], Any]]:
    def prepare(**inputs: Any) -> Callable[[], Any]:
        theirs: Any = getattr(import_module("flashinfer"), function)
        return lambda: theirs(**inputs)

    return prepare


def _flashinfer_varlen(tie_break: int, **inputs: Any) -> Callable[[], torch.Tensor]:
    """Prepare the call without what FlashInfer leaves open."""
    theirs: Any = import_module("flashinfer").top_k_varlen

    def run() -> torch.Tensor:
        indices: torch.Tensor = theirs(**inputs)[0]
        return indices

    return run
