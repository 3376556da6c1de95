"""Traces of get_batch_indices_positions and get_seq_lens."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from fictl.trace import Expr, Scalar, Tensor, TraceTemplate, Var


def _positions(
    append_indptr: torch.Tensor, seq_lens: torch.Tensor, nnz: int
) -> tuple[torch.Tensor, torch.Tensor]:
    entry = torch.arange(nnz, device=append_indptr.device, dtype=append_indptr.dtype)
    request = torch.searchsorted(append_indptr, entry, right=True) - 1
    is_of_one = (request >= 0) & (request < len(seq_lens))
    if not len(seq_lens):
        return request.fill_(-1).int(), torch.zeros_like(request).int()
    known = request.clamp(0, len(seq_lens) - 1)
    position = entry - append_indptr[known + 1] + seq_lens[known]
    return request.where(is_of_one, -1).int(), position.where(is_of_one, 0).int()


def _init_positions(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make requests of random numbers of entries; an eighth of the entries belongs to none."""
    requests, nnz = sizes["requests"], sizes["nnz"]
    of_requests = nnz - nnz // 8 if requests < nnz else nnz
    cuts = torch.randint(
        0, of_requests + 1, (max(requests - 1, 0),), device=device, generator=generator
    )
    ends = torch.tensor([0, of_requests][: requests + 1], device=device)
    indptr = torch.cat([cuts, ends]).sort().values
    before = torch.randint(0, 4096, (requests,), device=device, generator=generator)
    return {"append_indptr": indptr.to(dtype), "seq_lens": (before + indptr.diff()).to(dtype)}


def _validate_positions(append_indptr: torch.Tensor, seq_lens: torch.Tensor, nnz: int) -> None:
    starts = append_indptr.tolist()
    if starts != sorted(starts):
        raise ValueError("append_indptr falls: a request ends before it starts")


def _seq_lens(
    kv_indptr: torch.Tensor, kv_last_page_len: torch.Tensor, page_size: int
) -> torch.Tensor:
    return (kv_indptr.diff() - 1).clamp(min=0) * page_size + kv_last_page_len


def _init_seq_lens(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make lengths of requests, some of which have no page."""
    requests = sizes["requests"]
    pages = torch.randint(0, 100, (requests,), device=device, generator=generator)
    last = torch.randint(1, 17, (requests,), device=device, generator=generator)
    indptr = torch.nn.functional.pad(pages.cumsum(0), (1, 0))
    return {"kv_indptr": indptr.to(dtype), "kv_last_page_len": (last * (pages > 0)).to(dtype)}


get_batch_indices_positions = TraceTemplate(
    axes={
        "len_indptr": Var("requests, and one"),
        "nnz": Var("entries that there is room for"),
        "requests": Expr("len_indptr - 1", "requests"),
    },
    inputs={
        "append_indptr": Tensor(("len_indptr",), doc="where entries start, and the end"),
        "seq_lens": Tensor(("requests",), dtype_from="append_indptr", doc="with what is appended"),
        "nnz": Scalar("int32", doc="how many entries there is room for"),
    },
    outputs={
        "batch_indices": Tensor(("nnz",), dtype="int32"),
        "positions": Tensor(("nnz",), dtype="int32"),
    },
    reference=_positions,
    constraints=("len_indptr >= 1",),
    description="Find the request and the position of every entry of a ragged batch.",
    init=_init_positions,
    validate=_validate_positions,
)

get_seq_lens = TraceTemplate(
    axes={
        "len_indptr": Var("requests, and one"),
        "requests": Expr("len_indptr - 1", "requests"),
    },
    inputs={
        "kv_indptr": Tensor(("len_indptr",), doc="where pages start, and the end"),
        "kv_last_page_len": Tensor(("requests",), dtype_from="kv_indptr", doc="in the last page"),
        "page_size": Scalar("int32", 16, "what a page can hold"),
    },
    outputs={"out": Tensor(("requests",), dtype_from="kv_indptr")},
    reference=_seq_lens,
    constraints=("len_indptr >= 1",),
    description="Add up how long requests are that lie in pages.",
    init=_init_seq_lens,
)
