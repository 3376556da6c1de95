"""Request and position of each entry of a ragged batch, and the length of each request."""

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
    """Compute the request of each of nnz appended entries, and its position in the sequence.

    The entries of a request are the last of its sequence. Entries of no request, as those beyond
    append_indptr[-1], get request -1 and position 0. Nothing is read on the host: replaying a CUDA
    graph uses the current contents of append_indptr and seq_lens.

    append_indptr: (requests + 1,), int32 or int64: where the entries of each request start, and
        where the last ones end; non-decreasing.
    seq_lens: (requests,), int32 or int64: the length of each sequence, appended entries included.
    nnz: the number of entries to write.
    batch_indices: (nnz,), int32. None allocates it.
    positions: (nnz,), int32. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
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
    """Compute the length of each request of a paged cache: all of its pages are full but the last.

    kv_indptr: (requests + 1,), int32 or int64: where the pages of each request start, and where the
        last ones end.
    kv_last_page_len: (requests,), int32 or int64: the number of used slots of each last page.
    page_size: slots of a page.
    out: (requests,), int64 if one of the inputs is, otherwise int32. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        wider = torch.promote_types(kv_indptr.dtype, kv_last_page_len.dtype)
        out = torch.empty_like(kv_last_page_len, dtype=wider)
    kernel.get_seq_lens(
        out, kv_indptr, kv_last_page_len, page_size, enable_pdl is None or enable_pdl
    )
    return out
