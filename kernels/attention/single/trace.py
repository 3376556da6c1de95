"""Traces of attention of one request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fictl.trace import Const, Tensor, TraceTemplate, Var

from .._trace import reference
from .._trace.axes import (
    CAUSAL,
    DIMS,
    HEADS,
    PREFILL_CORNERS,
    SCORES,
    TOLERANCES,
    Axes,
    Inputs,
    of_dims,
)
from .._trace.cost import flops
from .._trace.inputs import single_init


def _flops(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    return flops(inputs, [sizes["qo_len"]], [sizes["kv_len"]])


def _decode_flops(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    return flops(inputs, [1], [sizes["kv_len"]])


_SINGLE: Axes = {"qo_len": Var("queries"), "kv_len": Var("keys"), **HEADS, **DIMS}
_SINGLE_QKV: Inputs = {
    "q": Tensor(("qo_len", "num_qo_heads", "head_dim_qk")),
    "k": Tensor(("kv_len", "num_kv_heads", "head_dim_qk"), dtype_from="q"),
    "v": Tensor(("kv_len", "num_kv_heads", "head_dim_vo"), dtype_from="q"),
}
_POSSIBLE = ("num_qo_heads % num_kv_heads == 0", "num_kv_heads >= 1")
_GROUPS = (*_POSSIBLE, *of_dims("head_dim_qk", "head_dim_vo"))
_DECODE_GROUPS = (*_POSSIBLE, *of_dims("head_dim", "head_dim_vo"))

_SINGLE_CORNERS = ("scale_q", "scale_k", "scale_v", "k_scale", "v_scale", "sinks")

single_prefill_with_kv_cache = TraceTemplate(
    axes=_SINGLE,
    inputs={
        **_SINGLE_QKV,
        "custom_mask": Tensor(
            ("qo_len", "kv_len"),
            dtype="bool",
            optional=True,
            doc="what is seen; causal is not asked",
        ),
        **CAUSAL,
        **SCORES,
    },
    outputs={"out": Tensor(("qo_len", "num_qo_heads", "head_dim_vo"), dtype_from="q")},
    reference=reference.single_prefill,
    constraints=_GROUPS,
    tolerances=TOLERANCES,
    init=single_init,
    flops=_flops,
    at_default=(*PREFILL_CORNERS, *_SINGLE_CORNERS),
    op_type="gqa_ragged",
    description="Attention of one request's queries, the last of its keys.",
)

single_prefill_with_kv_cache_return_lse = TraceTemplate(
    axes=_SINGLE,
    inputs={**_SINGLE_QKV, **CAUSAL, **SCORES},
    outputs={
        "out": Tensor(("qo_len", "num_qo_heads", "head_dim_vo"), dtype_from="q"),
        "lse": Tensor(("qo_len", "num_qo_heads"), dtype="float32"),
    },
    reference=reference.single_prefill_lse,
    constraints=_GROUPS,
    tolerances=TOLERANCES,
    flops=_flops,
    at_default=(*PREFILL_CORNERS, *_SINGLE_CORNERS, "custom_mask"),
    op_type="gqa_ragged",
    description="The same, and the logarithm of each query's sum.",
)

single_decode_with_kv_cache = TraceTemplate(
    axes={
        "kv_len": Var("keys"),
        **HEADS,
        "head_dim": Const("elements a head of queries and keys", "d"),
        "head_dim_vo": DIMS["head_dim_vo"],
    },
    inputs={
        "q": Tensor(("num_qo_heads", "head_dim")),
        "k": Tensor(("kv_len", "num_kv_heads", "head_dim"), dtype_from="q"),
        "v": Tensor(("kv_len", "num_kv_heads", "head_dim_vo"), dtype_from="q"),
        **SCORES,
    },
    outputs={"out": Tensor(("num_qo_heads", "head_dim_vo"), dtype_from="q")},
    reference=reference.single_decode,
    constraints=_DECODE_GROUPS,
    tolerances=TOLERANCES,
    flops=_decode_flops,
    at_default=("return_lse", "use_tensor_cores", "sinks"),
    op_type="gqa_ragged",
    description="Attention of one request's next token.",
)
