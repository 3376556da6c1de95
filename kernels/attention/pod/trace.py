"""Traces of POD: attention of a prefill, and of a batch that decodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var

from .._trace import reference
from .._trace.axes import HEAD_COUNTS, HEADS, TOLERANCES, Axes, Inputs
from .._trace.inputs import batch_pod_init, pod_init, workspace


def _bound(wrapper: Any, inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Make (plan, run), for the dtypes that the tensors have."""
    of_run = ("q_p", "k_p", "v_p", "q_d", "paged_kv_cache_p", "paged_kv_cache_d", "causal_p")
    ran = {name: inputs[name] for name in of_run if name in inputs}
    planned = {name: value for name, value in inputs.items() if name not in ran}
    types = {"q_data_type": inputs["q_d"].dtype, "kv_data_type": inputs["paged_kv_cache_d"].dtype}
    return lambda: wrapper.plan(**planned, **types), lambda: wrapper.run(**ran)


def _bind(inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from .op import PODWithPagedKVCacheWrapper

    return _bound(PODWithPagedKVCacheWrapper(workspace(inputs["q_d"].device)), inputs)


def _bind_batch(inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from .op import BatchPODWithPagedKVCacheWrapper

    return _bound(BatchPODWithPagedKVCacheWrapper(workspace(inputs["q_d"].device)), inputs)


_DIM: Axes = {"head_dim": Const("values a head", "d"), "page_size": Const("slots a page", "ps")}
_KV: Axes = {"kv": Const("keys and values", value=2)}
_SIZES: Inputs = {
    **HEAD_COUNTS,
    "head_dim": Scalar("int32", doc="values a head"),
    "page_size": Scalar("int32", doc="slots a page"),
}
_CAUSAL: Inputs = {
    "causal_p": Scalar("bool", True, "whether prefilled queries see no later keys"),
}
_POSSIBLE = (
    "num_qo_heads % num_kv_heads == 0",
    "num_kv_heads >= 1",
    "head_dim in (64, 128, 256)",
    "page_size >= 1",
)

PODWithPagedKVCacheWrapper = TraceTemplate(
    axes={
        "qo_len": Var("queries that are prefilled"),
        "kv_len": Var("keys of those"),
        "requests": Var("requests that decode"),
        "len_indptr": Expr("requests + 1", "requests, and one"),
        "pages": Var("pages of the cache"),
        "used_pages": Var("pages of the requests"),
        **HEADS,
        **_DIM,
        **_KV,
    },
    inputs={
        "indptr": Tensor(("len_indptr",), dtype="int32", doc="where a request's pages begin"),
        "indices": Tensor(("used_pages",), dtype="int32", doc="the pages of all requests"),
        "last_page_len": Tensor(("requests",), dtype="int32", doc="used slots of last pages"),
        **_SIZES,
        "q_p": Tensor(("qo_len", "num_qo_heads", "head_dim")),
        "k_p": Tensor(("kv_len", "num_kv_heads", "head_dim"), dtype_from="q_p"),
        "v_p": Tensor(("kv_len", "num_kv_heads", "head_dim"), dtype_from="q_p"),
        "q_d": Tensor(("requests", "num_qo_heads", "head_dim"), dtype_from="q_p"),
        "paged_kv_cache_d": Tensor(
            ("pages", "kv", "page_size", "num_kv_heads", "head_dim"), dtype_from="q_p"
        ),
        **_CAUSAL,
    },
    outputs={
        "out_p": Tensor(("qo_len", "num_qo_heads", "head_dim"), dtype_from="q_p"),
        "out_d": Tensor(("requests", "num_qo_heads", "head_dim"), dtype_from="q_p"),
    },
    reference=reference.pod,
    constraints=(*_POSSIBLE, "pages >= used_pages"),
    tolerances=TOLERANCES,
    init=pod_init,
    bind=_bind,
    at_default=(
        "custom_mask_p",
        "packed_custom_mask_p",
        "window_left_p",
        "return_lse_p",
        "custom_mask_d",
        "packed_custom_mask_d",
        "causal_d",
        "window_left_d",
        "return_lse_d",
        "use_fp16_qk_reduction",
        "non_blocking",
        "window_left",
    ),
    op_type="gqa_paged",
    description="Attention of a request that is prefilled and of a batch that decodes.",
)

BatchPODWithPagedKVCacheWrapper = TraceTemplate(
    axes={
        "tokens_p": Var("queries that are prefilled"),
        "requests_p": Var("requests that are prefilled"),
        "len_indptr_p": Expr("requests_p + 1", "those, and one"),
        "pages_p": Var("pages of their cache"),
        "used_pages_p": Var("their pages"),
        "tokens_d": Var("queries that decode"),
        "requests_d": Var("requests that decode"),
        "len_indptr_d": Expr("requests_d + 1", "those, and one"),
        "pages_d": Var("pages of their cache"),
        "used_pages_d": Var("their pages"),
        **HEADS,
        **_DIM,
        **_KV,
    },
    inputs={
        "qo_indptr_p": Tensor(("len_indptr_p",), dtype="int32", doc="where queries begin"),
        "kv_indptr_p": Tensor(("len_indptr_p",), dtype="int32", doc="where pages begin"),
        "kv_indices_p": Tensor(("used_pages_p",), dtype="int32", doc="pages"),
        "last_page_len_p": Tensor(("requests_p",), dtype="int32", doc="used slots of last pages"),
        "qo_indptr_d": Tensor(("len_indptr_d",), dtype="int32", doc="where queries begin"),
        "kv_indptr_d": Tensor(("len_indptr_d",), dtype="int32", doc="where pages begin"),
        "kv_indices_d": Tensor(("used_pages_d",), dtype="int32", doc="pages"),
        "last_page_len_d": Tensor(("requests_d",), dtype="int32", doc="used slots of last pages"),
        **_SIZES,
        "q_p": Tensor(("tokens_p", "num_qo_heads", "head_dim")),
        "paged_kv_cache_p": Tensor(
            ("pages_p", "kv", "page_size", "num_kv_heads", "head_dim"), dtype_from="q_p"
        ),
        "q_d": Tensor(("tokens_d", "num_qo_heads", "head_dim"), dtype_from="q_p"),
        "paged_kv_cache_d": Tensor(
            ("pages_d", "kv", "page_size", "num_kv_heads", "head_dim"), dtype_from="q_p"
        ),
        **_CAUSAL,
    },
    outputs={
        "out_p": Tensor(("tokens_p", "num_qo_heads", "head_dim"), dtype_from="q_p"),
        "out_d": Tensor(("tokens_d", "num_qo_heads", "head_dim"), dtype_from="q_p"),
    },
    reference=reference.batch_pod,
    constraints=(*_POSSIBLE, "pages_p >= used_pages_p", "pages_d >= used_pages_d"),
    tolerances=TOLERANCES,
    init=batch_pod_init,
    bind=_bind_batch,
    at_default=(
        "custom_mask_p",
        "packed_custom_mask_p",
        "return_lse",
        "use_fp16_qk_reduction",
        "non_blocking",
        "window_left",
    ),
    op_type="gqa_paged",
    description="Attention of a batch that is prefilled and of a batch that decodes.",
)
