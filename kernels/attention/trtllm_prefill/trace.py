"""Traces of prefill by TensorRT-LLM's older names: keys that are not in pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var

from .._trace import of_ragged
from .._trace.axes import HEADS, TOLERANCES, Axes, Inputs, of_dims
from .._trace.inputs import workspace

Bound = tuple[Callable[[], Any], Callable[[], Any]]


def _nothing() -> None:
    """Plan nothing."""


def _bind_ragged(inputs: dict[str, Any]) -> Bound:
    from .op import trtllm_ragged_attention_deepseek

    given = {**inputs, "workspace_buffer": workspace(inputs["query"].device)}
    given |= {"seq_lens": inputs["cum_seq_lens_kv"].diff(), "o_sf_scale": 1.0}  # which are ignored
    given |= {"enable_pdl": None, "return_lse": False}
    return _nothing, lambda: trtllm_ragged_attention_deepseek(**given)


def _bind_v2(inputs: dict[str, Any]) -> Bound:
    from .op import trtllm_fmha_v2_prefill

    starts = inputs["cum_seq_lens_q"]
    given = {**inputs, "workspace_buffer": workspace(inputs["qkv"].device)}
    given |= {"input_layout": "PACKED_QKV", "seq_lens": starts.diff(), "cum_seq_lens_kv": starts}
    return _nothing, lambda: trtllm_fmha_v2_prefill(**given)


_AXES: Axes = {
    "tokens": Var("queries of all requests"),
    "batch_size": Var("requests"),
    "len_indptr": Expr("batch_size + 1", "requests, and one"),
}
_SCORES: Inputs = {
    "max_q_len": Scalar("int32", 1 << 17, "the most queries of a request"),
    "max_kv_len": Scalar("int32", 1 << 17, "is ignored"),
    "bmm1_scale": Scalar("float32", 0.125, "factor of scores"),
    "bmm2_scale": Scalar("float32", 0.5, "factor of values"),
    "batch_size": Scalar("int32", doc="requests"),
    "window_left": Scalar("int32", -1, "how many keys before its own a query sees; -1: all"),
    "cum_seq_lens_q": Tensor(("len_indptr",), dtype="int32", doc="where a request's queries begin"),
}

trtllm_ragged_attention_deepseek = TraceTemplate(
    axes={
        **_AXES,
        "keys": Var("keys of all requests"),
        **HEADS,
        "head_dim": Const("elements a head of queries and keys", "d"),
        "head_dim_vo": Const("elements a head of values", "dv"),
    },
    inputs={
        "query": Tensor(("tokens", "num_qo_heads", "head_dim")),
        "key": Tensor(("keys", "num_kv_heads", "head_dim"), dtype_from="query"),
        "value": Tensor(("keys", "num_kv_heads", "head_dim_vo"), dtype_from="query"),
        **_SCORES,
        "cum_seq_lens_kv": Tensor(
            ("len_indptr",), dtype="int32", doc="where a request's keys begin"
        ),
        "is_causal": Scalar("bool", True, "whether later keys are not seen"),
        "attention_sinks": Tensor(
            ("num_qo_heads",), dtype="float32", optional=True, doc="logit of a key without a value"
        ),
    },
    outputs={"out": Tensor(("tokens", "num_qo_heads", "head_dim_vo"), dtype_from="query")},
    reference=of_ragged.deepseek,
    constraints=(
        "num_qo_heads % num_kv_heads == 0",
        "num_kv_heads >= 1",
        *of_dims("head_dim", "head_dim_vo"),
    ),
    tolerances=TOLERANCES,
    init=of_ragged.deepseek_init,
    validate=of_ragged.validate,
    bind=_bind_ragged,
    bytes=of_ragged.bytes_of,
    flops=of_ragged.flops_of,
    at_default=(
        "workspace_buffer",
        "seq_lens",
        "return_lse",
        "sage_attn_sfs",
        "q_seq_lens_cpu",
        "kv_seq_lens_cpu",
        "skip_all_rows_active_check",
        "num_elts_per_sage_attn_blk",
        "o_sf_scale",
        "enable_pdl",
    ),
    op_type="gqa_ragged",
    description="Attention of prompts over keys behind one another, planned on the device.",
)

trtllm_fmha_v2_prefill = TraceTemplate(
    axes={
        **_AXES,
        "three": Const("queries, keys and values", value=3),
        "num_heads": Const("heads", "h"),
        "head_dim": Const("elements a head", "d"),
    },
    inputs={"qkv": Tensor(("tokens", "three", "num_heads", "head_dim")), **_SCORES},
    outputs={"out": Tensor(("tokens", "num_heads", "head_dim"), dtype_from="qkv")},
    reference=of_ragged.packed,
    constraints=("num_heads >= 1", *of_dims("head_dim")),
    tolerances=TOLERANCES,
    init=of_ragged.packed_init,
    validate=of_ragged.validate,
    bind=_bind_v2,
    bytes=of_ragged.bytes_of_packed,
    flops=of_ragged.flops_of_packed,
    at_default=(
        "workspace_buffer",
        "seq_lens",
        "cum_seq_lens_kv",
        "block_tables",
        "sinks",
        "logits_soft_cap_scale",
        "save_softmax_stats",
        "input_layout",
        "chunked_attention_size",
        "skip_softmax_threshold_scale_factor",
    ),
    op_type="gqa_ragged",
    description="The same of queries, keys and values in one tensor.",
)
