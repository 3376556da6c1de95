"""The largest elements of every row, and where a sparse attention finds them."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .._algorithm import algorithm
from .._tie_break import TopKTieBreak

kernel = KernelModule(__file__)

# As top_k.cuh has them.
_SORTABLE = 4096
_ANY, _BY_INDEX, _BY_VALUE = 0, 1, 2


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
    """The k largest elements of every row, and their indices: (values, indices).

    NaN is above +inf, as for torch.topk; zeros of either sign are equal. A zero among the values is
    positive. -inf is an element as any other. Which elements are chosen is always the same.

    input: (rows, cols); the elements of a row are neighbours, the rows at one distance.
    k: how many, from 0 to cols.
    sorted: the largest first, equal ones in the order of their indices.
    deterministic: the same order in every run and batch: without `sorted`, that of the indices.
    tie_break: which of equal elements are chosen where not all are: a TopKTieBreak. NONE does as
        SMALL does.
    dsa_graph_safe: changes nothing: a CUDA graph may always capture the op.
    values: (rows, k), of input's dtype. None allocates it.
    indices: (rows, k), int64. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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
    """Where the k largest scores of every row are in the pages of a cache.

    Index i of row r is at src_page_table[r, i // page_size] * page_size + i % page_size. A row of
    no more than k scores gives all of them, in their order. What is missing of k is -1, and so is
    what the page table has no entry for. Scores are compared as top_k does.

    input: (rows, max_len): scores; the elements of a row are neighbours, the rows at one distance.
    src_page_table: (batch_size, pages), int32; the entries of a row are neighbours.
    lengths: (rows,), int32 or int64: the scores that count, the first ones of a row. What goes
        beyond the row does not.
    k: how many; may be more than max_len.
    row_to_batch: (rows,), int32 or int64: the row of src_page_table for each row. None is its own.
    deterministic: the same order in every run and batch: that of the indices.
    tie_break: which of equal scores are chosen where not all are: a TopKTieBreak. NONE does as
        SMALL does.
    dsa_graph_safe: changes nothing: a CUDA graph may always capture the op.
    row_starts: (rows,), int32 or int64: where the scores of a row start, from which indices count.
        None is 0.
    page_table_row_starts: (rows,), int32 or int64: where the entries of a row start. None is
        row_starts, and for a page_size above 1 must not be where row_starts is given.
    page_size: scores a page, a power of two.
    out: (rows, k), int32. None allocates it.
    out_raw_indices: (rows, k), int32: takes the indices themselves, and -1 where there is none.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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
    """Where the k largest scores of every row are in a ragged batch: their indices and an offset.

    A row of no more than k scores gives all of them, in their order. What is missing of k is -1.
    Scores are compared as top_k does.

    input: (rows, max_len): scores; the elements of a row are neighbours, the rows at one distance.
    offsets: (rows,), int32 or int64: what is added to each index of a row.
    lengths: (rows,), int32 or int64: the scores that count, the first ones of a row. What goes
        beyond the row does not.
    k: how many; may be more than max_len.
    deterministic: the same order in every run and batch: that of the indices.
    tie_break: which of equal scores are chosen where not all are: a TopKTieBreak. NONE does as
        SMALL does.
    dsa_graph_safe: changes nothing: a CUDA graph may always capture the op.
    row_starts: (rows,), int32 or int64: where the scores of a row start, from which indices count.
        None is 0.
    out: (rows, k), int32. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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


def _order(deterministic: bool) -> int:
    return _BY_INDEX if deterministic else _ANY
