"""Batches that users meet: decode steps, prefills, and what mixes them; padded ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

from . import trace

# Requests and entries; some entries are of no request.
_SMALL = ((1, 1), (1, 300), (5, 64), (3, 0), (300, 200), (2400, 500))
_DECODE = ((256, 256), (1024, 1024))
_PREFILL = ((1, 16384), (8, 16384), (64, 16384), (2048, 65536))


def cases() -> Iterator[Case]:
    for dtype in ("int32", "int64"):
        for requests, nnz in _SMALL:
            yield _positions(requests, nnz, dtype)
        for requests in (1, 300):
            yield _seq_lens(requests, dtype)
    for requests, nnz in (*_DECODE, *_PREFILL):
        yield _positions(requests, nnz, "int32")
    for requests in (256, 16384):
        yield _seq_lens(requests, "int32")


def _positions(requests: int, nnz: int, dtype: str) -> Case:
    sizes = {"len_indptr": requests + 1, "nnz": nnz}
    return Case("get_batch_indices_positions", sizes, dtype)


def _seq_lens(requests: int, dtype: str) -> Case:
    return Case("get_seq_lens", {"len_indptr": requests + 1}, dtype)


def baselines(function: str) -> Mapping[str, Callable[..., Any]]:
    reference = getattr(trace, function).reference
    peer = _flashinfer_positions if function.endswith("positions") else _flashinfer_seq_lens
    return {"torch": reference, "inductor": compiled(reference), "flashinfer": peer}


def _flashinfer_positions(
    append_indptr: torch.Tensor, seq_lens: torch.Tensor, nnz: int
) -> Callable[[], Any]:
    """FlashInfer allocates: positions of entries of no request are left as they were."""
    page: Any = import_module("flashinfer.page")
    return lambda: page.get_batch_indices_positions(append_indptr, seq_lens, nnz)


def _flashinfer_seq_lens(
    kv_indptr: torch.Tensor, kv_last_page_len: torch.Tensor, page_size: int
) -> Any:
    page: Any = import_module("flashinfer.page")
    return page.get_seq_lens(kv_indptr, kv_last_page_len, page_size)
