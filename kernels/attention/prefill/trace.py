"""Traces of prefill: attention of batches of many queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var

from .._trace import reference
from .._trace.axes import (
    CAUSAL,
    DIMS,
    HEAD_COUNTS,
    HEADS,
    PAGES,
    PLAN_CORNERS,
    SCORES,
    SINKS,
    TOLERANCES,
    Axes,
    of_dims,
)
from .._trace.cost import flops, moved
from .._trace.inputs import cache_lengths, check_table, paged_init, ragged_init, workspace

_RUN = ("q", "k", "v", "paged_kv_cache", "sinks", "out")


def _ragged_flops(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    starts, ends = inputs["qo_indptr"], inputs["kv_indptr"]
    return flops(inputs, starts.diff().tolist(), ends.diff().tolist())


def _kv_lens(inputs: Mapping[str, Any]) -> list[int]:
    begins, last = inputs["paged_kv_indptr"], inputs["paged_kv_last_page_len"]
    return cache_lengths(begins, last, inputs["page_size"])


def _paged_flops(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    return flops(inputs, inputs["qo_indptr"].diff().tolist(), _kv_lens(inputs))


def _validate(**inputs: Any) -> None:
    names = ("paged_kv_indptr", "paged_kv_indices", "paged_kv_last_page_len", "paged_kv_cache")
    check_table(*(inputs[name] for name in names))
    _check_queries(inputs["qo_indptr"], inputs["q"])


def _validate_ragged(**inputs: Any) -> None:
    _check_queries(inputs["qo_indptr"], inputs["q"])
    _check_queries(inputs["kv_indptr"], inputs["k"])


def _check_queries(begins: torch.Tensor, tokens: torch.Tensor) -> None:
    ends = begins.tolist()
    if ends != sorted(ends) or ends[0] < 0 or ends[-1] > len(tokens):
        raise ValueError(f"requests go from {ends[0]} to {ends[-1]} of {len(tokens)} tokens")


def _paged_bytes(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    return moved(inputs, sum(_kv_lens(inputs)), inputs["paged_kv_cache"])


def _bound(wrapper: Any, inputs: Mapping[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Make (plan, run), for the dtypes that the tensors have."""
    ran = {name: inputs[name] for name in _RUN if name in inputs}
    planned = {name: value for name, value in inputs.items() if name not in ran}
    planned["q_data_type"] = inputs["q"].dtype
    planned["kv_data_type"] = inputs.get("k", inputs.get("paged_kv_cache", inputs["q"])).dtype
    return lambda: wrapper.plan(**planned), lambda: wrapper.run(**ran)


def _bind_ragged(inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from .op import BatchPrefillWithRaggedKVCacheWrapper

    wrapper = BatchPrefillWithRaggedKVCacheWrapper(workspace(inputs["q"].device))
    return _bound(wrapper, inputs)


def _bind_paged(inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from .op import BatchPrefillWithPagedKVCacheWrapper

    wrapper = BatchPrefillWithPagedKVCacheWrapper(workspace(inputs["q"].device))
    return _bound(wrapper, inputs)


_DIM: Axes = {"head_dim_qk": Const("values a head", "d")}
_GROUPS = ("num_qo_heads % num_kv_heads == 0", "num_kv_heads >= 1", *of_dims("head_dim_qk"))

BatchPrefillWithRaggedKVCacheWrapper = TraceTemplate(
    axes={
        "len_indptr": Var("requests, and one"),
        "requests": Expr("len_indptr - 1", "requests"),
        "tokens": Var("queries of all requests"),
        "kv_tokens": Var("keys of all requests"),
        "mask_bits": Var("scores of all requests"),
        **HEADS,
        **DIMS,
    },
    inputs={
        "qo_indptr": Tensor(("len_indptr",), dtype="int32", doc="where a request's queries begin"),
        "kv_indptr": Tensor(("len_indptr",), dtype="int32", doc="where its keys begin"),
        **HEAD_COUNTS,
        "head_dim_qk": Scalar("int32", doc="elements a head of queries and keys"),
        "head_dim_vo": Scalar("int32", doc="elements a head of values"),
        "custom_mask": Tensor(
            ("mask_bits",), dtype="bool", optional=True, doc="what is seen; causal is not asked"
        ),
        **CAUSAL,
        **SCORES,
        "q": Tensor(("tokens", "num_qo_heads", "head_dim_qk")),
        "k": Tensor(("kv_tokens", "num_kv_heads", "head_dim_qk"), dtype_from="q"),
        "v": Tensor(("kv_tokens", "num_kv_heads", "head_dim_vo"), dtype_from="q"),
        **SINKS,
    },
    outputs={"out": Tensor(("tokens", "num_qo_heads", "head_dim_vo"), dtype_from="q")},
    reference=reference.batch_ragged,
    constraints=(*_GROUPS, *of_dims("head_dim_vo")),
    tolerances=TOLERANCES,
    init=ragged_init,
    validate=_validate_ragged,
    bind=_bind_ragged,
    flops=_ragged_flops,
    at_default=(*PLAN_CORNERS, "v_indptr", "o_indptr"),
    op_type="gqa_ragged",
    description="Attention of a batch whose keys lie behind one another.",
)

BatchPrefillWithPagedKVCacheWrapper = TraceTemplate(
    axes={"tokens": Var("queries of all requests"), **PAGES, **HEADS, **_DIM},
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
        **CAUSAL,
        **SCORES,
        "q": Tensor(("tokens", "num_qo_heads", "head_dim_qk")),
        "paged_kv_cache": Tensor(
            ("pages", "kv", "page_size", "num_kv_heads", "head_dim_qk"), dtype_from="q"
        ),
        **SINKS,
    },
    outputs={"out": Tensor(("tokens", "num_qo_heads", "head_dim_qk"), dtype_from="q")},
    reference=reference.batch_paged,
    constraints=(*_GROUPS, "pages >= used_pages", "page_size >= 1"),
    tolerances=TOLERANCES,
    init=paged_init,
    validate=_validate,
    bind=_bind_paged,
    bytes=_paged_bytes,
    flops=_paged_flops,
    at_default=(*PLAN_CORNERS, "custom_mask", "block_tables"),
    op_type="gqa_paged",
    description="Attention of a batch whose keys lie in pages.",
)
