"""Where entries of a ragged batch belong, and how long its requests are."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="i32 i64", devices="cuda emu", mutates="batch_indices positions")
def get_batch_indices_positions(
    append_indptr: torch.Tensor,
    seq_lens: torch.Tensor,
    nnz: int,
    batch_indices: torch.Tensor | None = None,
    positions: torch.Tensor | None = None,
    *,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The request of each of nnz entries that are appended, and its position in the sequence.

    Of a request the entries are the last of its sequence. An entry that is of no request, as those
    beyond append_indptr[-1] are, has -1 and 0. Nothing is read on the host: a CUDA graph goes on
    with whatever append_indptr and seq_lens hold.

    append_indptr: (requests + 1,), int32 or int64; where the entries of each request start, and
        where the last ones end. It never falls.
    seq_lens: (requests,), int32 or int64; how long each is with its entries appended.
    nnz: a number; how many entries there is room for.
    batch_indices: (nnz,), int32. None allocates it.
    positions: (nnz,), int32. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    if batch_indices is None:
        batch_indices = append_indptr.new_empty((nnz,), dtype=torch.int32)
    if positions is None:
        positions = append_indptr.new_empty((nnz,), dtype=torch.int32)
    kernel.get_batch_indices_positions(
        batch_indices, positions, append_indptr, seq_lens, nnz, enable_pdl is None or enable_pdl
    )
    return batch_indices, positions


@op(archs=">=7.5", dtypes="i32 i64", devices="cuda emu", mutates="out")
def get_seq_lens(
    kv_indptr: torch.Tensor,
    kv_last_page_len: torch.Tensor,
    page_size: int,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """How long each request is: all of its pages are full but the last.

    kv_indptr: (requests + 1,), int32 or int64; where the pages of each request start, and where the
        last ones end.
    kv_last_page_len: (requests,), int32 or int64; how much the last page of each holds.
    page_size: a number; how much a page can hold.
    out: (requests,), int64 where one of the two is, else int32. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    if out is None:
        wider = torch.promote_types(kv_indptr.dtype, kv_last_page_len.dtype)
        out = torch.empty_like(kv_last_page_len, dtype=wider)
    kernel.get_seq_lens(
        out, kv_indptr, kv_last_page_len, page_size, enable_pdl is None or enable_pdl
    )
    return out
