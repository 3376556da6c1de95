"""Traces of decoding as one call: keys of the queries' dtype, and of 8 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var

from .._trace import of_tables
from .._trace.axes import SINKS, TABLES, TOLERANCES, Axes, Inputs, table_rules
from .._trace.of_tables import bytes_of, flops_of, validate, zeros

Bound = tuple[Callable[[], Any], Callable[[], Any]]


def _nothing() -> None:
    """Plan nothing."""


def _bind_trtllm(inputs: dict[str, Any]) -> Bound:
    from .op import trtllm_batch_decode_with_kv_cache

    memory = zeros(inputs["query"].device)
    run = trtllm_batch_decode_with_kv_cache
    return _nothing, lambda: run(**inputs, workspace_buffer=memory)


def _bind_batch(inputs: dict[str, Any]) -> Bound:
    from .op import xqa_batch_decode_with_kv_cache

    memory = zeros(inputs["query"].device)
    run = xqa_batch_decode_with_kv_cache
    return _nothing, lambda: run(**inputs, workspace_buffer=memory)


def _bind_xqa(inputs: dict[str, Any]) -> Bound:
    from .op import xqa

    memory = zeros(inputs["q"].device)
    counters, parts = memory[: 1 << 20].view(torch.int32), memory[8 << 20 :]
    # A benchmark brings its own result.
    given = {"output": inputs["q"].new_empty(inputs["q"].shape), **inputs}
    output: torch.Tensor = given["output"]

    def run() -> torch.Tensor:
        xqa(**given, workspace_buffer=parts, semaphores=counters)
        return output

    return _nothing, run


def _bind_cudnn(inputs: dict[str, Any]) -> Bound:
    from .op import cudnn_batch_decode_with_kv_cache

    # Its own, which need not be zeros.
    memory = torch.empty(16 << 20, dtype=torch.uint8, device=inputs["q"].device)
    run = cudnn_batch_decode_with_kv_cache
    return _nothing, lambda: run(**inputs, workspace_buffer=memory)


_AXES: Axes = {
    "requests": Var("requests"),
    **TABLES,
}
_RULES = table_rules("requests")
_TABLE: Inputs = {
    "block_tables": Tensor(("requests", "most_pages"), dtype="int32", doc="pages of a request"),
    "seq_lens": Tensor(("requests",), dtype="int32", doc="keys of a request"),
}
_FACTORS: Inputs = {
    "bmm1_scale": Scalar("float32", 0.125, "factor of scores"),
    "bmm2_scale": Scalar("float32", 0.5, "factor of values"),
}
_WINDOW: Inputs = {
    "window_left": Scalar("int32", -1, "how many keys before its own a query sees; -1: all")
}
_QUERY = ("requests", "num_qo_heads", "head_dim")
_HND = ("pages", "kv", "num_kv_heads", "page_size", "head_dim")
_NHD = ("pages", "kv", "page_size", "num_kv_heads", "head_dim")
_OUT = {"out": Tensor(_QUERY, dtype_from="query")}
_OF_8_BITS = "float8_e4m3fn"

trtllm_batch_decode_with_kv_cache = TraceTemplate(
    axes=_AXES,
    inputs={
        "query": Tensor(_QUERY),
        "kv_cache": Tensor(_HND, dtype_from="query"),
        **_TABLE,
        "max_seq_len": Scalar("int32", 1 << 17, "is ignored"),
        **_FACTORS,
        **_WINDOW,
        **SINKS,
    },
    outputs=_OUT,
    reference=of_tables.trtllm,
    constraints=_RULES,
    tolerances=TOLERANCES,
    init=of_tables.trtllm_init,
    validate=validate,
    bind=_bind_trtllm,
    bytes=bytes_of,
    flops=flops_of,
    at_default=(
        "workspace_buffer",
        "q_len_per_req",
        "o_scale",
        "mask",
        "cum_seq_lens_q",
        "kv_cache_sf",
        "uses_shared_paged_kv_idx",
        "return_lse",
        "bmm1_scale_log2",
        "multi_ctas_kv_counter_buffer",
        "enable_block_sparse_attention",
        "cp_world",
        "cp_rank",
        "causal_seqlens_kv_global",
        "request_order",
    ),
    op_type="gqa_paged",
    description="Attention of a batch's next tokens, planned on the device.",
)

xqa_batch_decode_with_kv_cache = TraceTemplate(
    axes=_AXES,
    inputs={
        "query": Tensor(_QUERY),
        "kv_cache": Tensor(_NHD, dtype=_OF_8_BITS),
        **_TABLE,
        "max_seq_len": Scalar("int32", 1 << 17, "is ignored"),
        **_FACTORS,
        **_WINDOW,
        **SINKS,
    },
    outputs=_OUT,
    reference=of_tables.xqa_batch,
    constraints=(*_RULES, "head_dim % 16 == 0"),
    tolerances=TOLERANCES,
    init=of_tables.trtllm_init,
    validate=validate,
    bind=_bind_batch,
    bytes=bytes_of,
    flops=flops_of,
    at_default=(
        "workspace_buffer",
        "q_len_per_req",
        "o_scale",
        "mask",
        "kv_cache_sf",
        "q_cu_seq_lens",
    ),
    op_type="gqa_paged",
    description="The same with keys and values of 8 bits.",
)

_PAGED_PAIR: Inputs = {
    "k_cache": Tensor(("pages", "page_size", "num_kv_heads", "head_dim"), dtype_from="q"),
    "v_cache": Tensor(("pages", "page_size", "num_kv_heads", "head_dim"), dtype_from="q"),
}

xqa = TraceTemplate(
    axes={**_AXES, "beams": Const("beams", value=1)},
    inputs={
        "q": Tensor(("requests", "beams", "num_qo_heads", "head_dim")),
        **_PAGED_PAIR,
        "page_table": Tensor(("requests", "most_pages"), dtype="int32", doc="pages of a request"),
        "seq_lens": Tensor(("requests",), dtype="int32", doc="keys of a request"),
        "num_kv_heads": Scalar("int32", doc="heads of keys and values"),
        "page_size": Scalar("int32", doc="slots a page"),
        "q_scale": Scalar("float32", 1.0, "factor of scores"),
        "kv_scale": Scalar("float32", 1.0, "factor of scores and of values"),
        "sliding_win_size": Scalar("int32", 0, "how many keys a query sees; 0: all"),
    },
    outputs={
        "output": Tensor(("requests", "beams", "num_qo_heads", "head_dim"), dtype_from="q"),
    },
    reference=of_tables.xqa,
    constraints=_RULES,
    tolerances=TOLERANCES,
    init=of_tables.xqa_init,
    validate=validate,
    bind=_bind_xqa,
    bytes=bytes_of,
    flops=flops_of,
    at_default=(
        "workspace_buffer",
        "semaphores",
        "sinks",
        "rcp_out_scale",
        "q_seq_len",
        "mask",
        "q_cu_seq_lens",
        "k_sf_cache",
        "v_sf_cache",
    ),
    op_type="gqa_paged",
    description="The same by the kernel's own arguments.",
)

_HND_PAIR: Inputs = {
    "k_cache": Tensor(("pages", "num_kv_heads", "page_size", "head_dim"), dtype_from="q"),
    "v_cache": Tensor(("pages", "num_kv_heads", "page_size", "head_dim"), dtype_from="q"),
}

cudnn_batch_decode_with_kv_cache = TraceTemplate(
    axes=_AXES,
    inputs={
        "q": Tensor(_QUERY),
        **_HND_PAIR,
        "scale": Scalar("float32", 0.125, "factor of scores"),
        "max_sequence_kv": Scalar("int32", 1 << 17, "is ignored"),
        "actual_seq_lens_kv": Tensor(("requests",), dtype="int32", doc="keys of a request"),
        "block_tables": Tensor(("requests", "most_pages"), dtype="int32", doc="pages of a request"),
        **_WINDOW,
        **SINKS,
    },
    outputs={"out": Tensor(_QUERY, dtype_from="q")},
    reference=of_tables.cudnn,
    constraints=_RULES,
    tolerances=TOLERANCES,
    init=of_tables.cudnn_init,
    validate=validate,
    bind=_bind_cudnn,
    bytes=bytes_of,
    flops=flops_of,
    at_default=(
        "workspace_buffer",
        "is_cuda_graph_compatible",
        "batch_offsets_q",
        "batch_offsets_o",
        "batch_offsets_k",
        "batch_offsets_v",
        "return_lse",
        "q_len_per_req",
    ),
    op_type="gqa_paged",
    description="The same by the arguments of cuDNN's.",
)
