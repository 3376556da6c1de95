"""Traces of POD: attention of a prefill, and of a batch that decodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var

from .._trace import reference
from .._trace.axes import HEAD_COUNTS, HEADS, TOLERANCES, Axes, Inputs
from .._trace.inputs import indptr, page_table, workspace


def _pod(
    indptr: torch.Tensor,
    indices: torch.Tensor,
    last_page_len: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    page_size: int,
    q_p: torch.Tensor,
    k_p: torch.Tensor,
    v_p: torch.Tensor,
    q_d: torch.Tensor,
    paged_kv_cache_d: torch.Tensor,
    causal_p: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    prefilled = reference.attention(q_p, k_p, v_p, causal_p)[0]
    sizes = (num_qo_heads, num_kv_heads, head_dim, page_size)
    table = (indptr, indices, last_page_len)
    decoded = reference.batch_decode(*table, *sizes, -1, 0.0, q_d, paged_kv_cache_d, None)
    return prefilled, decoded


def _batch_pod(
    qo_indptr_p: torch.Tensor,
    kv_indptr_p: torch.Tensor,
    kv_indices_p: torch.Tensor,
    last_page_len_p: torch.Tensor,
    qo_indptr_d: torch.Tensor,
    kv_indptr_d: torch.Tensor,
    kv_indices_d: torch.Tensor,
    last_page_len_d: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    page_size: int,
    q_p: torch.Tensor,
    paged_kv_cache_p: torch.Tensor,
    q_d: torch.Tensor,
    paged_kv_cache_d: torch.Tensor,
    causal_p: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    sizes = (num_qo_heads, num_kv_heads, head_dim, page_size)
    of_p = (qo_indptr_p, kv_indptr_p, kv_indices_p, last_page_len_p)
    of_d = (qo_indptr_d, kv_indptr_d, kv_indices_d, last_page_len_d)
    return (
        reference.batch_paged(*of_p, *sizes, causal_p, -1, 0.0, q_p, paged_kv_cache_p, None),
        reference.batch_paged(*of_d, *sizes, False, -1, 0.0, q_d, paged_kv_cache_d, None),
    )


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    begins, indices, last = page_table(sizes, device, generator)
    return {"indptr": begins, "indices": indices, "last_page_len": last}


def _batch_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    inputs: dict[str, torch.Tensor] = {}
    for end in ("p", "d"):
        of = {name: sizes[f"{name}_{end}"] for name in ("requests", "used_pages", "pages")}
        table = page_table({**of, "page_size": sizes["page_size"]}, device, generator)
        names = ("kv_indptr", "kv_indices", "last_page_len")
        inputs |= {f"{name}_{end}": x for name, x in zip(names, table, strict=True)}
        starts = indptr(sizes[f"tokens_{end}"], of["requests"], device, generator)
        inputs[f"qo_indptr_{end}"] = starts
    return inputs


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
    reference=_pod,
    constraints=(*_POSSIBLE, "pages >= used_pages"),
    tolerances=TOLERANCES,
    init=_init,
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
    reference=_batch_pod,
    constraints=(*_POSSIBLE, "pages_p >= used_pages_p", "pages_d >= used_pages_d"),
    tolerances=TOLERANCES,
    init=_batch_init,
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
