"""Largest elements of every row, and their places in the pages or rows of sparse attention."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from fictl.op import KernelModule, op

from .._algorithm import algorithm
from .._tie_break import TopKTieBreak

kernel = KernelModule(__file__)

# As top_k.cuh has them.
_SORTABLE = 4096
_ANY, _BY_INDEX, _BY_VALUE = 0, 1, 2
# FlashInfer's names of its own algorithms, whose results are the same.
_BACKENDS = ("auto", "radix", "radix_cutlass", "radix_filter", "gvr", "gvr_2")


@op(
    archs=">=7.5",
    dtypes="f16 bf16 f32",
    devices="cuda emu",
    mutates="values indices",
    settings={
        "FICTL_TOPK_ALGO": "how top_k and its transforms choose: auto, filtered, multi_cta (radix) "
        "or clusters; the elements chosen are the same",
    },
)
def top_k(
    input: torch.Tensor,
    k: int,
    sorted: bool = False,
    deterministic: bool = False,
    tie_break: int = TopKTieBreak.NONE,
    dsa_graph_safe: bool = False,
    *,
    values: torch.Tensor | None = None,
    indices: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the k largest elements of every row, and their indices: (values, indices).

    NaN is above +inf, as in torch.topk; zeros of either sign are equal, and positive in values.
    -inf is an element like any other. The same elements are chosen in every run.

    input: (rows, cols); last dimension contiguous, all rows at one stride.
    k: number of elements, from 0 to cols.
    sorted: the largest first, equal ones in the order of their indices.
    deterministic: gives the same order in every run and batch: without `sorted`, that of the
        indices.
    tie_break: which of equal elements are chosen where not all are: a TopKTieBreak. NONE is as
        SMALL.
    dsa_graph_safe: ignored: the op can always be captured into a CUDA graph.
    values: (rows, k), of input's dtype. None allocates it.
    indices: (rows, k), int64. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    shape = (*input.shape[:-1], max(k, 0))
    if values is None:
        values = input.new_empty(shape)
    if indices is None:
        indices = input.new_empty(shape, dtype=torch.int64)
    by_torch = sorted and k > _SORTABLE
    order = _BY_VALUE if sorted and not by_torch else _order(deterministic or by_torch)
    kernel.top_k(
        values,
        indices,
        input,
        k,
        order,
        int(tie_break),
        algorithm(),
        enable_pdl is None or enable_pdl,
    )
    if by_torch:
        ordered = values.sort(dim=-1, descending=True, stable=True)
        indices.copy_(indices.gather(-1, ordered.indices))
        values.copy_(ordered.values)
    return values, indices


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out out_raw_indices")
def top_k_page_table_transform(
    input: torch.Tensor,
    src_page_table: torch.Tensor,
    lengths: torch.Tensor,
    k: int,
    row_to_batch: torch.Tensor | None = None,
    deterministic: bool = False,
    tie_break: int = TopKTieBreak.NONE,
    dsa_graph_safe: bool = False,
    row_starts: torch.Tensor | None = None,
    page_table_row_starts: torch.Tensor | None = None,
    *,
    page_size: int = 1,
    out: torch.Tensor | None = None,
    out_raw_indices: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Return the places of each row's k largest scores in the pages of a cache.

    Index i of row r is at src_page_table[r, i // page_size] * page_size + i % page_size. A row of
    up to k scores gives all of them, in their order. The rest of k is -1, as is an index without an
    entry in the page table. Scores are compared as top_k does.

    input: (rows, max_len): scores; last dimension contiguous, all rows at one stride.
    src_page_table: (batch_size, pages), int32; last dimension contiguous, all rows at one stride.
    lengths: (rows,), int32 or int64: the number of scores of a row that count, from its start; what
        goes beyond the row does not.
    k: number of scores; may exceed max_len.
    row_to_batch: (rows,), int32 or int64: the row of src_page_table for each row. None: its own.
    deterministic: gives the same order in every run and batch: that of the indices.
    tie_break: which of equal scores are chosen where not all are: a TopKTieBreak. NONE is as SMALL.
    dsa_graph_safe: ignored: the op can always be captured into a CUDA graph.
    row_starts: (rows,), int32 or int64: where the scores of a row start, from which indices count.
        None is 0.
    page_table_row_starts: (rows,), int32 or int64: where the entries of a row start. None is
        row_starts; with a page_size above 1 and row_starts it must be given.
    page_size: scores of a page, a power of two.
    out: (rows, k), int32. None allocates it.
    out_raw_indices: (rows, k), int32: receives the indices themselves, and -1 where there is none.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        out = input.new_empty((*input.shape[:-1], max(k, 0)), dtype=torch.int32)
    kernel.top_k_page_table_transform(
        out,
        out_raw_indices,
        input,
        src_page_table,
        lengths,
        row_to_batch,
        row_starts,
        page_table_row_starts,
        k,
        page_size,
        _order(deterministic),
        int(tie_break),
        algorithm(),
        enable_pdl is None or enable_pdl,
    )
    return out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def top_k_ragged_transform(
    input: torch.Tensor,
    offsets: torch.Tensor,
    lengths: torch.Tensor,
    k: int,
    deterministic: bool = False,
    tie_break: int = TopKTieBreak.NONE,
    dsa_graph_safe: bool = False,
    row_starts: torch.Tensor | None = None,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Return the places of each row's k largest scores in a ragged batch: indices plus an offset.

    A row of up to k scores gives all of them, in their order. The rest of k is -1. Scores are
    compared as top_k does.

    input: (rows, max_len): scores; last dimension contiguous, all rows at one stride.
    offsets: (rows,), int32 or int64: added to each index of a row.
    lengths: (rows,), int32 or int64: the number of scores of a row that count, from its start; what
        goes beyond the row does not.
    k: number of scores; may exceed max_len.
    deterministic: gives the same order in every run and batch: that of the indices.
    tie_break: which of equal scores are chosen where not all are: a TopKTieBreak. NONE is as SMALL.
    dsa_graph_safe: ignored: the op can always be captured into a CUDA graph.
    row_starts: (rows,), int32 or int64: where the scores of a row start, from which indices count.
        None is 0.
    out: (rows, k), int32. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        out = input.new_empty((*input.shape[:-1], max(k, 0)), dtype=torch.int32)
    kernel.top_k_ragged_transform(
        out,
        input,
        offsets,
        lengths,
        row_starts,
        k,
        _order(deterministic),
        int(tie_break),
        algorithm(),
        enable_pdl is None or enable_pdl,
    )
    return out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out_indices out_values")
def top_k_varlen(
    logits: torch.Tensor,
    seq_lens: torch.Tensor,
    top_k: int,
    pre_idx: torch.Tensor | None = None,
    compress_ratio: int = 1,
    next_n: int = 1,
    return_values: bool = False,
    out_indices: torch.Tensor | None = None,
    out_values: torch.Tensor | None = None,
    backend: str = "auto",
    load_balance: bool = True,
    workspace: Mapping[str, torch.Tensor] | None = None,
    *,
    deterministic: bool = False,
    tie_break: int = TopKTieBreak.NONE,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return the indices of each row's top_k largest scores, and these: (indices, values or None).

    Row t of a request has its first max(0, (seq_len - next_n + t + 1) // compress_ratio) scores,
    and no more than there are columns. A row of up to top_k scores gives all of them, in their
    order; the rest of top_k is -1, and 0 in the values. Scores are compared as top_k does. Lengths
    are read on the device: replays of a CUDA graph read them again.

    logits: (requests * next_n, max_len): scores; last dimension contiguous, all rows at one stride.
    seq_lens: (requests,), int32 or int64: the tokens of each request, whatever compress_ratio is.
    top_k: number of scores; may exceed max_len.
    pre_idx: ignored: FlashInfer's hint from the step before.
    compress_ratio: tokens that a score stands for.
    next_n: rows of a request, its last tokens.
    return_values: return the scores as well, in logits' dtype.
    out_indices: (rows, top_k), int32, or one dimension of as many, of which that view is returned.
        None allocates it.
    out_values: the same in logits' dtype; looked at if return_values. None allocates it.
    backend: auto; FlashInfer's radix, radix_cutlass, radix_filter, gvr and gvr_2 are the same.
    load_balance, workspace: ignored.
    deterministic: gives the same order in every run and batch: that of the indices.
    tie_break: which of equal scores are chosen where not all are: a TopKTieBreak. NONE is as SMALL.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if backend not in _BACKENDS:
        raise ValueError(
            f"top_k_varlen: argument 'backend' is {backend!r}; accepted: {', '.join(_BACKENDS)}"
        )
    shape = (len(logits), max(top_k, 0))
    out_indices = _room(out_indices, logits, shape, torch.int32)
    out_values = _room(out_values, logits, shape, logits.dtype) if return_values else None
    kernel.top_k_varlen(
        out_indices,
        out_values,
        logits,
        seq_lens,
        top_k,
        compress_ratio,
        next_n,
        _order(deterministic),
        int(tie_break),
        algorithm(),
        enable_pdl is None or enable_pdl,
    )
    return out_indices, out_values


def _room(
    out: torch.Tensor | None, like: torch.Tensor, shape: tuple[int, int], dtype: torch.dtype
) -> torch.Tensor:
    """Allocate an output, or view one that is given flat."""
    if out is None:
        return like.new_empty(shape, dtype=dtype)
    if out.dim() == 1 and out.numel() == shape[0] * shape[1]:
        return out.view(shape)
    return out


def _order(deterministic: bool) -> int:
    return _BY_INDEX if deterministic else _ANY
