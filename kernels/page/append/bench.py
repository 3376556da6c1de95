"""Sizes of append that users meet: a step of decoding, a chunk of prompts, small odd ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.trace import Case

from .trace import slots

# tokens, requests, pages that they use, page_size, heads, dim
_SMALL = ((1, 1, 1, 1, 1, 8), (7, 3, 6, 5, 2, 6), (33, 4, 12, 4, 4, 64), (20, 2, 4, 16, 3, 80))
_DECODE = ((64, 64, 64 * 64, 16, 8, 128), (256, 256, 256 * 64, 16, 8, 128))
_PREFILL = ((16384, 16, 1024, 16, 8, 128), (16384, 4, 16384, 1, 8, 128), (8192, 8, 128, 64, 8, 64))
# tokens, requests, pages, page_size, ckv_dim, kpe_dim
_MLA_SMALL = ((5, 2, 4, 4, 24, 7), (17, 3, 6, 8, 512, 64))
_MLA = ((64, 64, 64 * 16, 64, 512, 64), (16384, 16, 256, 64, 512, 64))


def cases() -> Iterator[Case]:
    for sizes in _SMALL:
        for dtype in ("float16", "bfloat16", "float32", "float8_e4m3fn"):
            yield _case(*sizes, dtype)
    for sizes in (*_DECODE, *_PREFILL):
        yield _case(*sizes, "bfloat16")
    yield _case(*_PREFILL[0], "float8_e4m3fn")
    for sizes in _MLA_SMALL:
        for dtype in ("bfloat16", "float8_e4m3fn"):
            yield _mla_case(*sizes, dtype)
    for sizes in _MLA:
        yield _mla_case(*sizes, "bfloat16")


def _case(
    tokens: int, requests: int, used: int, page_size: int, heads: int, dim: int, dtype: str
) -> Case:
    sizes = {
        "tokens": tokens,
        "requests": requests,
        "pages": used + used // 8,
        "used_pages": used,
        "page_size": page_size,
        "heads": heads,
        "dim": dim,
    }
    return Case("append_paged_kv_cache", sizes, dtype)


def _mla_case(
    tokens: int, requests: int, used: int, page_size: int, ckv_dim: int, kpe_dim: int, dtype: str
) -> Case:
    sizes = {
        "tokens": tokens,
        "requests": requests,
        "pages": used + used // 8,
        "used_pages": used,
        "page_size": page_size,
        "ckv_dim": ckv_dim,
        "kpe_dim": kpe_dim,
    }
    return Case("append_paged_mla_kv_cache", sizes, dtype)


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    if function == "append_paged_kv_cache":
        return {"torch": _torch, "flashinfer": _flashinfer}
    return {"torch": _mla_torch, "flashinfer": _mla_flashinfer}


def _torch(
    append_key: torch.Tensor, append_value: torch.Tensor, paged_kv_cache: torch.Tensor, **where: Any
) -> Callable[[], torch.Tensor]:
    """Copy by slots that were computed before."""
    page, slot = _slots(paged_kv_cache.shape[2], **where)
    keys, values = paged_kv_cache.unbind(1)

    def run() -> torch.Tensor:
        keys[page, slot] = append_key
        values[page, slot] = append_value
        return paged_kv_cache

    return run


def _mla_torch(
    append_ckv: torch.Tensor,
    append_kpe: torch.Tensor,
    ckv_cache: torch.Tensor,
    kpe_cache: torch.Tensor,
    **where: Any,
) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
    page, slot = _slots(ckv_cache.shape[1], **where)

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        ckv_cache[page, slot] = append_ckv
        kpe_cache[page, slot] = append_kpe
        return ckv_cache, kpe_cache

    return run


def _slots(
    page_size: int, kv_last_page_len: torch.Tensor, **where: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the slots of tokens, none of which is padding."""
    _, page, slot = slots(**where, page_size=page_size)
    return page, slot


def _flashinfer(**inputs: torch.Tensor) -> Callable[[], torch.Tensor]:
    flashinfer: Any = import_module("flashinfer")

    def run() -> torch.Tensor:
        flashinfer.append_paged_kv_cache(**inputs)
        return inputs["paged_kv_cache"]

    return run


def _mla_flashinfer(**inputs: torch.Tensor) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
    page: Any = import_module("flashinfer.page")

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        page.append_paged_mla_kv_cache(**inputs)
        return inputs["ckv_cache"], inputs["kpe_cache"]

    return run
