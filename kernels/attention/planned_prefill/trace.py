"""Traces of prefill as one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fictl.trace import Expr, Scalar, Tensor, TraceTemplate, Var

from .._trace import of_tables
from .._trace.axes import CAUSAL, SINKS, TABLES, TOLERANCES, Axes, table_rules
from .._trace.inputs import workspace
from .._trace.of_tables import bytes_of, flops_of, validate

Bound = tuple[Callable[[], Any], Callable[[], Any]]


def _nothing() -> None:
    """Plan nothing."""


def _bind_trtllm(inputs: dict[str, Any]) -> Bound:
    from .op import trtllm_batch_context_with_kv_cache

    given = {**inputs, "cum_seq_lens_kv": inputs["cum_seq_lens_q"]}  # which is ignored
    given["workspace_buffer"] = workspace(inputs["query"].device)
    return _nothing, lambda: trtllm_batch_context_with_kv_cache(**given)


def _bind_cudnn(inputs: dict[str, Any]) -> Bound:
    from .op import cudnn_batch_prefill_with_kv_cache

    given = {**inputs, "workspace_buffer": workspace(inputs["q"].device)}
    given |= {"batch_offsets_units": "tokens", "return_lse": False}
    return _nothing, lambda: cudnn_batch_prefill_with_kv_cache(**given)[0]


_AXES: Axes = {
    "tokens": Var("queries of all requests"),
    "batch_size": Var("requests"),
    "len_indptr": Expr("batch_size + 1", "requests, and one"),
    **TABLES,
}
_RULES = table_rules("batch_size")
_QUERY = ("tokens", "num_qo_heads", "head_dim")
_TABLE = ("batch_size", "most_pages")
_PAGE = ("pages", "num_kv_heads", "page_size", "head_dim")

trtllm_batch_context_with_kv_cache = TraceTemplate(
    axes=_AXES,
    inputs={
        "query": Tensor(_QUERY),
        "kv_cache": Tensor(
            ("pages", "kv", "num_kv_heads", "page_size", "head_dim"), dtype_from="query"
        ),
        "block_tables": Tensor(_TABLE, dtype="int32", doc="pages of a request"),
        "seq_lens": Tensor(("batch_size",), dtype="int32", doc="keys of a request"),
        "max_q_len": Scalar("int32", 1 << 17, "the most queries of a request"),
        "max_kv_len": Scalar("int32", 1 << 17, "is ignored"),
        "bmm1_scale": Scalar("float32", 0.125, "factor of scores"),
        "bmm2_scale": Scalar("float32", 0.5, "factor of values"),
        "batch_size": Scalar("int32", doc="requests"),
        "cum_seq_lens_q": Tensor(
            ("len_indptr",), dtype="int32", doc="where a request's queries begin"
        ),
        "window_left": Scalar("int32", -1, "how many keys before its own a query sees; -1: all"),
        **CAUSAL,
        **SINKS,
    },
    outputs={"out": Tensor(_QUERY, dtype_from="query")},
    reference=of_tables.trtllm_context,
    constraints=_RULES,
    tolerances=TOLERANCES,
    init=of_tables.trtllm_context_init,
    validate=validate,
    bind=_bind_trtllm,
    bytes=bytes_of,
    flops=flops_of,
    at_default=(
        "workspace_buffer",
        "cum_seq_lens_kv",
        "kv_cache_sf",
        "uses_shared_paged_kv_idx",
        "return_lse",
        "multi_ctas_kv_counter_buffer",
    ),
    op_type="gqa_paged",
    description="Attention of prompts over keys in pages, planned on the device.",
)

cudnn_batch_prefill_with_kv_cache = TraceTemplate(
    axes=_AXES,
    inputs={
        "q": Tensor(_QUERY),
        "k_cache": Tensor(_PAGE, dtype_from="q"),
        "v_cache": Tensor(_PAGE, dtype_from="q"),
        "scale": Scalar("float32", 0.125, "factor of scores"),
        "max_token_per_sequence": Scalar("int32", 1 << 17, "the most queries of a request"),
        "max_sequence_kv": Scalar("int32", 1 << 17, "is ignored"),
        "actual_seq_lens_q": Tensor(("batch_size",), dtype="int32", doc="queries of a request"),
        "actual_seq_lens_kv": Tensor(("batch_size",), dtype="int32", doc="keys of a request"),
        "block_tables": Tensor(_TABLE, dtype="int32", doc="pages of a request"),
        **CAUSAL,
        "batch_offsets_q": Tensor(
            ("len_indptr",), dtype="int32", doc="where a request's queries begin"
        ),
    },
    outputs={"out": Tensor(_QUERY, dtype_from="q")},
    reference=of_tables.cudnn_prefill,
    constraints=_RULES,
    tolerances=TOLERANCES,
    init=of_tables.cudnn_prefill_init,
    validate=validate,
    bind=_bind_cudnn,
    bytes=bytes_of,
    flops=flops_of,
    at_default=(
        "workspace_buffer",
        "return_lse",
        "q_scale",
        "k_scale",
        "v_scale",
        "batch_offsets_o",
        "batch_offsets_k",
        "batch_offsets_v",
        "batch_offsets_stats",
        "is_cuda_graph_compatible",
    ),
    op_type="gqa_paged",
    description="The same by the arguments of cuDNN's.",
)
