"""Traces of decoding: attention of one query a request, the last of its keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate

from .._trace import reference
from .._trace.axes import (
    CORNERS,
    HEAD_COUNTS,
    HEADS,
    PAGES,
    SCORES,
    SINKS,
    TOLERANCES,
    Axes,
    Inputs,
    of_dims,
)
from .._trace.cost import flops, moved
from .._trace.inputs import cache_lengths, check_table, decode_init, workspace

_RUN = ("q", "paged_kv_cache", "sinks", "out")


def _validate(**inputs: Any) -> None:
    names = ("indptr", "indices", "last_page_len", "paged_kv_cache")
    check_table(*(inputs[name] for name in names))


def _kv_lens(inputs: Mapping[str, Any]) -> list[int]:
    return cache_lengths(inputs["indptr"], inputs["last_page_len"], inputs["page_size"])


def _flops(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    return flops(inputs, [1] * sizes["requests"], _kv_lens(inputs))


def _bytes(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    """Count the bytes; a window leaves only a part of the cache to be read."""
    window, lengths = int(inputs["window_left"]), _kv_lens(inputs)
    read = lengths if window < 0 else [min(length, window + 1) for length in lengths]
    return moved(inputs, sum(read), inputs["paged_kv_cache"])


def _bind(inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from .op import BatchDecodeWithPagedKVCacheWrapper

    return _bound(BatchDecodeWithPagedKVCacheWrapper(workspace(inputs["q"].device)), inputs)


def _bind_for_graphs(inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from .op import CUDAGraphBatchDecodeWithPagedKVCacheWrapper

    device = inputs["q"].device
    begins, pages, last = (
        torch.empty(inputs[name].shape, dtype=torch.int32, device=device)
        for name in ("indptr", "indices", "last_page_len")
    )
    wrapper = CUDAGraphBatchDecodeWithPagedKVCacheWrapper(workspace(device), begins, pages, last)
    return _bound(wrapper, inputs)


def _bound(wrapper: Any, inputs: Mapping[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Make (plan, run), for the dtypes that the tensors have."""
    ran = {name: inputs[name] for name in _RUN if name in inputs}
    planned = {name: value for name, value in inputs.items() if name not in ran}
    planned["q_data_type"] = inputs["q"].dtype
    planned["kv_data_type"] = inputs["paged_kv_cache"].dtype
    return lambda: wrapper.plan(**planned), lambda: wrapper.run(**ran)


_DIM: Axes = {"head_dim": Const("values a head", "d")}
_GROUPS = ("num_qo_heads % num_kv_heads == 0", "num_kv_heads >= 1", *of_dims("head_dim"))

_PAGED: Inputs = {
    "indptr": Tensor(("len_indptr",), dtype="int32", doc="where a request's pages begin"),
    "indices": Tensor(("used_pages",), dtype="int32", doc="the pages of all requests"),
    "last_page_len": Tensor(("requests",), dtype="int32", doc="used slots of their last pages"),
    **HEAD_COUNTS,
    "head_dim": Scalar("int32", doc="values a head"),
    "page_size": Scalar("int32", doc="slots a page"),
    **SCORES,
    "q": Tensor(("requests", "num_qo_heads", "head_dim")),
    "paged_kv_cache": Tensor(
        ("pages", "kv", "page_size", "num_kv_heads", "head_dim"), dtype_from="q"
    ),
    **SINKS,
}
_CORNERS = (
    *CORNERS,
    "non_blocking",
    "block_tables",
    "seq_lens",
    "disable_split_kv",
    "q_len_per_req",
    "window_right",
    "head_dim_vo",
)

BatchDecodeWithPagedKVCacheWrapper = TraceTemplate(
    axes={**PAGES, **HEADS, **_DIM},
    inputs=_PAGED,
    outputs={"out": Tensor(("requests", "num_qo_heads", "head_dim"), dtype_from="q")},
    reference=reference.batch_decode,
    constraints=(*_GROUPS, "pages >= used_pages", "page_size >= 1"),
    tolerances=TOLERANCES,
    init=decode_init,
    validate=_validate,
    bind=_bind,
    bytes=_bytes,
    flops=_flops,
    at_default=_CORNERS,
    op_type="gqa_paged",
    description="Attention of a batch's next tokens over keys in pages.",
)

CUDAGraphBatchDecodeWithPagedKVCacheWrapper = TraceTemplate(
    axes={**PAGES, **HEADS, **_DIM},
    inputs=_PAGED,
    outputs={"out": Tensor(("requests", "num_qo_heads", "head_dim"), dtype_from="q")},
    reference=reference.batch_decode,
    constraints=(*_GROUPS, "pages >= used_pages", "page_size >= 1"),
    tolerances=TOLERANCES,
    init=decode_init,
    validate=_validate,
    bind=_bind_for_graphs,
    bytes=_bytes,
    flops=_flops,
    at_default=_CORNERS,
    op_type="gqa_paged",
    description="The same, with plans in places that captured graphs read.",
)
