"""Sizes of nvfp4 of KV caches that users meet: tokens of a prefill, contexts that are read back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.trace import Case

from . import trace

_SMALL = ((1, 16), (5, 80), (9, 1040))
_USERS = ((64, 1024), (16384, 1024))
# requests, positions, page_size, heads, dim
_PAGED_SMALL = ((1, 1, 1, 1, 16), (3, 11, 4, 3, 80))
_PAGED = ((8, 8192, 16, 8, 128), (64, 1024, 16, 8, 128))


def cases() -> Iterator[Case]:
    for rows, cols in _SMALL:
        for dtype in ("float16", "bfloat16"):
            yield Case("nvfp4_kv_quantize", {"rows": rows, "cols": cols}, dtype)
        yield Case("nvfp4_kv_dequantize", {"rows": rows, "packed": cols // 2}, "uint8")
    for rows, cols in _USERS:
        yield Case("nvfp4_kv_quantize", {"rows": rows, "cols": cols}, "bfloat16")
        yield Case("nvfp4_kv_dequantize", {"rows": rows, "packed": cols // 2}, "uint8")
    for sizes in _PAGED_SMALL:
        for dtype in ("float16", "bfloat16"):
            yield _paged(*sizes, dtype)
    for sizes in _PAGED:
        yield _paged(*sizes, "bfloat16")


def _paged(requests: int, positions: int, page_size: int, heads: int, dim: int, dtype: str) -> Case:
    sizes = {
        "requests": requests,
        "positions": positions,
        "pages": requests * -(-positions // page_size) + 3,
        "page_size": page_size,
        "heads": heads,
        "dim": dim,
    }
    return Case("nvfp4_kv_dequantize_paged", sizes, dtype)


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """FlashInfer quantizes on sm_100 and newer, and converts back everywhere."""
    by_torch: Callable[..., Any] = getattr(trace, function).reference
    if function == "nvfp4_kv_quantize":
        return {"torch": by_torch}
    if function == "nvfp4_kv_dequantize":
        return {"torch": by_torch, "flashinfer": _flashinfer}
    return {"torch": by_torch, "flashinfer": _flashinfer_paged}


def _flashinfer(**inputs: torch.Tensor) -> Callable[[], torch.Tensor]:
    quantization: Any = import_module("flashinfer.quantization")
    return lambda: quantization.nvfp4_kv_dequantize(**inputs)


def _flashinfer_paged(**inputs: torch.Tensor) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
    quantization: Any = import_module("flashinfer.quantization.fp4_quantization")

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        quantization.nvfp4_kv_dequantize_paged(**inputs)
        return inputs["output_k"], inputs["output_v"]

    return run
