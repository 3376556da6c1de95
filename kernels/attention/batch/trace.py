"""Trace of attention of mixed batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var

from .._trace import reference
from .._trace.axes import CAUSAL, HEAD_COUNTS, HEADS, PAGES, TOLERANCES
from .._trace.cost import moved
from .._trace.cost import seen as seen_scores
from .._trace.inputs import mixed_init


def _validate(**inputs: Any) -> None:
    starts, pages = inputs["qo_indptr"].tolist(), inputs["kv_indptr"]
    if starts != sorted(starts) or starts[0] < 0 or starts[-1] > len(inputs["q"]):
        raise ValueError(f"requests go from {starts[0]} to {starts[-1]} of {len(inputs['q'])}")
    if bool((pages.diff() * inputs["page_size"] < inputs["kv_len_arr"]).any()):
        raise ValueError("a request has more keys than its pages hold")
    if bool((inputs["kv_len_arr"] < 0).any()) or bool((pages.diff() < 0).any()):
        raise ValueError("a request has less than no keys")
    outside = (inputs["kv_indices"] < 0) | (inputs["kv_indices"] >= len(inputs["kv_cache"]))
    if bool(outside.any()) or int(pages[-1]) > len(outside):
        raise ValueError(f"a page is not one of the {len(inputs['kv_cache'])} of the cache")


def _lengths(inputs: Mapping[str, Any]) -> list[tuple[int, int]]:
    queries, keys = inputs["qo_indptr"].diff().tolist(), inputs["kv_len_arr"].tolist()
    return list(zip(queries, keys, strict=True))


def _flops(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    causal = bool(inputs["causal"])
    scores = sum(seen_scores(n, m, causal, -1) for n, m in _lengths(inputs))
    return 4 * scores * sizes["num_qo_heads"] * sizes["head_dim_qk"]


def _bytes(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    return moved(inputs, sum(m for _, m in _lengths(inputs)), inputs["kv_cache"])


def _bind(inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from .op import BatchAttention

    wrapper = BatchAttention(device=inputs["q"].device)
    ran = {name: inputs[name] for name in ("q", "kv_cache", "out", "lse") if name in inputs}
    planned = {name: value for name, value in inputs.items() if name not in ran}
    types = {"q_data_type": inputs["q"].dtype, "kv_data_type": inputs["kv_cache"].dtype}
    return lambda: wrapper.plan(**planned, **types), lambda: wrapper.run(**ran)


BatchAttention = TraceTemplate(
    axes={
        "tokens": Var("queries of all requests"),
        **PAGES,
        **HEADS,
        "head_dim_qk": Const("values a head", "d"),
        "head_dim_vo": Const("values of a value's head", "dv"),
    },
    inputs={
        "qo_indptr": Tensor(("len_indptr",), dtype="int32", doc="where a request's queries begin"),
        "kv_indptr": Tensor(("len_indptr",), dtype="int32", doc="where its pages begin"),
        "kv_indices": Tensor(("used_pages",), dtype="int32", doc="the pages of all requests"),
        "kv_len_arr": Tensor(("requests",), dtype="int32", doc="keys of each request"),
        **HEAD_COUNTS,
        "head_dim_qk": Scalar("int32", doc="values a head"),
        "head_dim_vo": Scalar("int32", doc="values of a value's head"),
        "page_size": Scalar("int32", doc="slots a page"),
        **CAUSAL,
        "q": Tensor(("tokens", "num_qo_heads", "head_dim_qk")),
        "kv_cache": Tensor(
            ("pages", "kv", "page_size", "num_kv_heads", "head_dim_qk"), dtype_from="q"
        ),
    },
    outputs={
        "out": Tensor(("tokens", "num_qo_heads", "head_dim_qk"), dtype_from="q"),
        "lse": Tensor(("tokens", "num_qo_heads"), dtype="float32"),
    },
    reference=reference.mixed_batch,
    constraints=(
        "num_qo_heads % num_kv_heads == 0",
        "num_kv_heads >= 1",
        "head_dim_qk in (64, 128, 256)",
        "head_dim_vo == head_dim_qk",
        "pages >= used_pages",
        "page_size >= 1",
        "requests >= 1 or tokens == 0 == used_pages",
    ),
    tolerances=TOLERANCES,
    init=mixed_init,
    validate=_validate,
    bind=_bind,
    bytes=_bytes,
    flops=_flops,
    at_default=(
        "q_data_type",
        "kv_data_type",
        "logits_soft_cap",
        "use_profiler",
        "profiler_buffer",
        "kv_cache_sf",
    ),
    op_type="gqa_paged",
    description="Attention of a batch that mixes requests of many queries and of few.",
)
