"""Trace of causal attention with ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var

from .._trace import reference
from .._trace.axes import HEAD_COUNTS, HEADS, PAGES, TOLERANCES
from .._trace.inputs import check_table, ranges_init, workspace


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
    reference=reference.ranges,
    constraints=(
        "num_qo_heads % num_kv_heads == 0",
        "num_kv_heads >= 1",
        "head_dim_qk in (64, 128, 256)",
        "pages >= used_pages",
        "page_size >= 1",
    ),
    tolerances=TOLERANCES,
    init=ranges_init,
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
