"""Trace of causal attention with ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var

from .._trace import reference
from .._trace.axes import HEAD_COUNTS, HEADS, PAGES, TOLERANCES
from .._trace.inputs import check_table, paged_init, workspace


def mask_of(
    q_len: int, kv_len: int, ranges: torch.Tensor, causal_window: int, range_window: int
) -> torch.Tensor:
    """Compute what the queries of a request see: (q_len, kv_len)."""
    keys = torch.arange(kv_len, device=ranges.device)
    distance = (torch.arange(q_len, device=ranges.device) + kv_len - q_len)[:, None] - keys
    causal = distance >= 0
    if causal_window >= 0:
        causal &= distance <= causal_window
    inside = (keys >= ranges[:, :1]) & (keys <= ranges[:, 1:])
    if range_window > 0:
        inside &= distance < range_window
    return causal | inside


def _attention(
    qo_indptr: torch.Tensor,
    paged_kv_indptr: torch.Tensor,
    paged_kv_indices: torch.Tensor,
    paged_kv_last_page_len: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim_qk: int,
    page_size: int,
    q: torch.Tensor,
    paged_kv_cache: torch.Tensor,
    bidirectional_ranges: torch.Tensor,
    causal_window_left: int,
    range_window_left: int,
) -> torch.Tensor:
    out = torch.zeros_like(q, dtype=torch.float64)
    starts, pages = qo_indptr.tolist(), paged_kv_indptr.tolist()
    for i, last in enumerate(paged_kv_last_page_len.tolist()):
        mine = slice(starts[i], starts[i + 1])
        used = paged_kv_cache[paged_kv_indices[pages[i] : pages[i + 1]].long()]
        length = (len(used) - 1) * page_size + last if len(used) else 0
        k, v = (used[:, of].flatten(0, 1)[:length] for of in (0, 1))
        ranges = bidirectional_ranges[mine]
        seen = mask_of(len(q[mine]), length, ranges, causal_window_left, range_window_left)
        out[mine] = reference.attention(q[mine], k, v, mask=seen)[0]
    return out


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Draw a page table, and for half of the queries a range."""
    inputs = paged_init(sizes, dtype, device, generator)
    tokens, keys = sizes["tokens"], sizes["used_pages"] * sizes["page_size"] + 1
    ends = torch.randint(0, keys, (tokens, 2), device=device, generator=generator).sort(-1).values
    has = torch.rand((tokens, 1), device=device, generator=generator) < 0.5
    return {**inputs, "bidirectional_ranges": ends.where(has, -1).int()}


def _validate(**inputs: Any) -> None:
    names = ("paged_kv_indptr", "paged_kv_indices", "paged_kv_last_page_len", "paged_kv_cache")
    check_table(*(inputs[name] for name in names))
    ends = inputs["qo_indptr"].tolist()
    if ends != sorted(ends) or ends[0] < 0 or ends[-1] > len(inputs["q"]):
        raise ValueError(f"requests go from {ends[0]} to {ends[-1]} of {len(inputs['q'])} queries")


def _bind(inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from .op import BatchPrefillWithCausalBidirectionalRangesWrapper

    wrapper = BatchPrefillWithCausalBidirectionalRangesWrapper(workspace(inputs["q"].device))
    of_run = (
        "q",
        "paged_kv_cache",
        "bidirectional_ranges",
        "causal_window_left",
        "range_window_left",
        "out",
    )
    ran = {name: inputs[name] for name in of_run if name in inputs}
    planned = {name: value for name, value in inputs.items() if name not in ran}
    types = {"q_data_type": inputs["q"].dtype, "kv_data_type": inputs["paged_kv_cache"].dtype}
    types["o_data_type"] = inputs["q"].dtype
    return lambda: wrapper.plan(**planned, **types), lambda: wrapper.run(**ran)


BatchPrefillWithCausalBidirectionalRangesWrapper = TraceTemplate(
    axes={
        "tokens": Var("queries of all requests"),
        **PAGES,
        **HEADS,
        "head_dim_qk": Const("values a head", "d"),
    },
    inputs={
        "qo_indptr": Tensor(("len_indptr",), dtype="int32", doc="where a request's queries begin"),
        "paged_kv_indptr": Tensor(("len_indptr",), dtype="int32", doc="where its pages begin"),
        "paged_kv_indices": Tensor(("used_pages",), dtype="int32", doc="the pages of all requests"),
        "paged_kv_last_page_len": Tensor(
            ("requests",), dtype="int32", doc="used slots of their last pages"
        ),
        **HEAD_COUNTS,
        "head_dim_qk": Scalar("int32", doc="values a head"),
        "page_size": Scalar("int32", doc="slots a page"),
        "q": Tensor(("tokens", "num_qo_heads", "head_dim_qk")),
        "paged_kv_cache": Tensor(
            ("pages", "kv", "page_size", "num_kv_heads", "head_dim_qk"), dtype_from="q"
        ),
        "bidirectional_ranges": Tensor(
            ("tokens", "kv"), dtype="int32", doc="first and last key of a query's range"
        ),
        "causal_window_left": Scalar("int32", -1, "keys before a query's own; -1: all"),
        "range_window_left": Scalar("int32", -1, "keys of a range from the own one back; -1: all"),
    },
    outputs={"out": Tensor(("tokens", "num_qo_heads", "head_dim_qk"), dtype_from="q")},
    reference=_attention,
    constraints=(
        "num_qo_heads % num_kv_heads == 0",
        "num_kv_heads >= 1",
        "head_dim_qk in (64, 128, 256)",
        "pages >= used_pages",
        "page_size >= 1",
    ),
    tolerances=TOLERANCES,
    init=_init,
    validate=_validate,
    bind=_bind,
    at_default=(
        "return_lse",
        "custom_mask",
        "packed_custom_mask",
        "causal",
        "use_fp16_qk_reduction",
        "window_left",
        "non_blocking",
        "prefix_len_ptr",
        "token_pos_in_items_ptr",
        "token_pos_in_items_len",
        "max_item_len_ptr",
        "disable_split_kv",
        "kv_cache_sf",
    ),
    op_type="gqa_paged",
    description="Causal attention in which queries may see a range of keys, too.",
)
