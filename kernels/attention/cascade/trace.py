"""Traces of attention over shared keys: attention over all keys that a request sees."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var

from .._trace.axes import HEAD_COUNTS, HEADS, PAGES, TOLERANCES, Axes, Inputs, of_dims
from .._trace.cost import moved
from .._trace.inputs import cache_lengths, levels_init, paged_init, unique_init, workspace


def _attention(
    q: torch.Tensor, keys: list[tuple[torch.Tensor, torch.Tensor]], causal: bool
) -> torch.Tensor:
    """Attend queries over several runs of keys; the queries are the last of the last run.

    With `causal` a query sees no key after its own. Without any key the result is 0.
    """
    k, v = (torch.cat(parts).double() for parts in zip(*keys, strict=True))
    group = q.shape[1] // max(k.shape[1], 1)
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = torch.einsum("nhd,mhd->hnm", q.double(), k) / math.sqrt(q.shape[-1])
    place = torch.arange(len(k), device=q.device)
    after = place > len(k) - len(q) + torch.arange(len(q), device=q.device)[:, None]
    last = place >= len(k) - len(keys[-1][0])
    scores = scores.masked_fill(after & last & causal, -torch.inf)
    most = scores.amax(-1, keepdim=True).clamp(min=-1e300) if len(k) else 0.0
    weights = torch.exp(scores - most)
    total = weights.sum(-1, keepdim=True)
    return torch.einsum("hnm,mhd->nhd", weights / torch.where(total == 0, 1, total), v)


def _gathered(
    cache: torch.Tensor, pages: torch.Tensor, last: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gather keys and values of a request from a cache (pages, 2, page_size, heads, dim)."""
    used = cache[pages.long()]
    length = (len(pages) - 1) * cache.shape[2] + last if len(pages) else 0
    return used[:, 0].flatten(0, 1)[:length], used[:, 1].flatten(0, 1)[:length]


def _multi_level(
    qo_indptr_arr: torch.Tensor,
    paged_kv_indptr_arr: torch.Tensor,
    paged_kv_indices_arr: torch.Tensor,
    paged_kv_last_page_len: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    page_size: int,
    causal: bool,
    q: torch.Tensor,
    paged_kv_cache: torch.Tensor,
) -> torch.Tensor:
    """A request of the last level is part of one of each level before."""
    out = torch.zeros_like(q, dtype=torch.float64)
    starts = qo_indptr_arr.tolist()
    for start, end in pairwise(starts[-1]):
        keys = []
        for level, begins in enumerate(starts if start < end else []):
            of = next(i for i in range(len(begins) - 1) if begins[i] <= start < begins[i + 1])
            pages = slice(*paged_kv_indptr_arr[level, of : of + 2].tolist())
            used = paged_kv_indices_arr[level, pages]
            keys.append(_gathered(paged_kv_cache, used, int(paged_kv_last_page_len[level, of])))
        if keys:
            out[start:end] = _attention(q[start:end], keys, causal)
    return out


def _shared_decode(
    unique_kv_indptr: torch.Tensor,
    unique_kv_indices: torch.Tensor,
    unique_kv_last_page_len: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    page_size: int,
    q: torch.Tensor,
    k_shared: torch.Tensor,
    v_shared: torch.Tensor,
    unique_kv_cache: torch.Tensor,
) -> torch.Tensor:
    queries = torch.arange(len(q) + 1)
    return _shared_prefill(
        queries,
        unique_kv_indptr,
        unique_kv_indices,
        unique_kv_last_page_len,
        num_qo_heads,
        num_kv_heads,
        head_dim,
        page_size,
        q,
        k_shared,
        v_shared,
        unique_kv_cache,
        False,
    )


def _shared_prefill(
    qo_indptr: torch.Tensor,
    paged_kv_indptr: torch.Tensor,
    paged_kv_indices: torch.Tensor,
    paged_kv_last_page_len: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    page_size: int,
    q: torch.Tensor,
    k_shared: torch.Tensor,
    v_shared: torch.Tensor,
    unique_kv_cache: torch.Tensor,
    causal: bool,
) -> torch.Tensor:
    out = torch.zeros_like(q, dtype=torch.float64)
    starts, pages = qo_indptr.tolist(), paged_kv_indptr.tolist()
    for i, last in enumerate(paged_kv_last_page_len.tolist()):
        used = paged_kv_indices[pages[i] : pages[i + 1]]
        keys = [(k_shared, v_shared), _gathered(unique_kv_cache, used, last)]
        queries = slice(starts[i], starts[i + 1])
        out[queries] = _attention(q[queries], keys, causal)
    return out


def _levels_bytes(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    arrays = inputs["paged_kv_indptr_arr"], inputs["paged_kv_last_page_len"]
    size = sizes["page_size"]
    lengths = [cache_lengths(begins, last, size) for begins, last in zip(*arrays, strict=True)]
    return moved(inputs, sum(map(sum, lengths)), inputs["paged_kv_cache"])


def _shared_bytes(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    """Count the bytes for both wrappers, which name lengths differently."""
    kind = "paged" if "qo_indptr" in inputs else "unique"
    begins, last = inputs[f"{kind}_kv_indptr"], inputs[f"{kind}_kv_last_page_len"]
    lengths = cache_lengths(begins, last, sizes["page_size"])
    return moved(inputs, sizes["shared_len"] + sum(lengths), inputs["unique_kv_cache"])


_RUN = ("q", "paged_kv_cache", "k_shared", "v_shared", "unique_kv_cache", "out")


def _bound(
    wrapper: Any, inputs: dict[str, Any], of_run: tuple[str, ...], types: dict[str, torch.dtype]
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Make (plan, run), for the dtypes that the tensors have."""
    ran = {name: inputs[name] for name in (*_RUN, *of_run) if name in inputs}
    planned = {name: value for name, value in inputs.items() if name not in ran}
    return lambda: wrapper.plan(**planned, **types), lambda: wrapper.run(**ran)


def _bind_levels(inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from .op import MultiLevelCascadeAttentionWrapper

    q, levels = inputs["q"], len(inputs["qo_indptr_arr"])
    wrapper = MultiLevelCascadeAttentionWrapper(levels, workspace(q.device))
    types = {"q_data_type": q.dtype, "kv_data_type": inputs["paged_kv_cache"].dtype}
    return _bound(wrapper, inputs, (), types)


def _bind_decode(inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from .op import BatchDecodeWithSharedPrefixPagedKVCacheWrapper

    wrapper = BatchDecodeWithSharedPrefixPagedKVCacheWrapper(workspace(inputs["q"].device))
    types = {"q_data_type": inputs["q"].dtype, "data_type": inputs["unique_kv_cache"].dtype}
    return _bound(wrapper, inputs, (), types)


def _bind_prefill(inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from .op import BatchPrefillWithSharedPrefixPagedKVCacheWrapper

    wrapper = BatchPrefillWithSharedPrefixPagedKVCacheWrapper(workspace(inputs["q"].device))
    types = {"q_data_type": inputs["q"].dtype, "kv_data_type": inputs["unique_kv_cache"].dtype}
    return _bound(wrapper, inputs, ("causal",), types)


_DIM: Axes = {"head_dim": Const("values a head", "d")}
_SHARED: Axes = {"shared_len": Var("keys that all requests share")}
_SIZES: Inputs = {
    **HEAD_COUNTS,
    "head_dim": Scalar("int32", doc="values a head"),
    "page_size": Scalar("int32", doc="slots a page"),
}
_CAUSAL: Inputs = {
    "causal": Scalar("bool", True, "whether later keys of the last level are not seen"),
}
_LEVELS: Inputs = {
    "qo_indptr_arr": Tensor(
        ("levels", "len_indptr"), dtype="int32", doc="where the queries of a request begin"
    ),
    "paged_kv_indptr_arr": Tensor(
        ("levels", "len_indptr"), dtype="int32", doc="where its pages begin"
    ),
    "paged_kv_indices_arr": Tensor(
        ("levels", "used_pages"), dtype="int32", doc="the pages of a level"
    ),
    "paged_kv_last_page_len": Tensor(
        ("levels", "requests"), dtype="int32", doc="used slots of last pages"
    ),
}
_CACHE = ("pages", "kv", "page_size", "num_kv_heads", "head_dim")
_SHARED_KEYS: Inputs = {
    "k_shared": Tensor(("shared_len", "num_kv_heads", "head_dim"), dtype_from="q"),
    "v_shared": Tensor(("shared_len", "num_kv_heads", "head_dim"), dtype_from="q"),
    "unique_kv_cache": Tensor(_CACHE, dtype_from="q"),
}
_POSSIBLE = (
    "num_qo_heads % num_kv_heads == 0",
    "num_kv_heads >= 1",
    *of_dims("head_dim"),
    "pages >= used_pages",
    "page_size >= 1",
    "requests >= 1 or tokens == 0 == used_pages",
)

MultiLevelCascadeAttentionWrapper = TraceTemplate(
    axes={
        "levels": Var("levels of shared keys"),
        "tokens": Var("queries of all requests"),
        **PAGES,
        **HEADS,
        **_DIM,
    },
    inputs={
        **_LEVELS,
        **_SIZES,
        **_CAUSAL,
        "q": Tensor(("tokens", "num_qo_heads", "head_dim")),
        "paged_kv_cache": Tensor(_CACHE, dtype_from="q"),
    },
    outputs={"out": Tensor(("tokens", "num_qo_heads", "head_dim"), dtype_from="q")},
    reference=_multi_level,
    constraints=(*_POSSIBLE, "levels >= 1"),
    tolerances=TOLERANCES,
    init=levels_init,
    bind=_bind_levels,
    bytes=_levels_bytes,
    at_default=("use_fp16_qk_reduction", "window_left", "head_dim_vo"),
    op_type="gqa_paged",
    description="Attention over keys that requests share in levels.",
)

BatchDecodeWithSharedPrefixPagedKVCacheWrapper = TraceTemplate(
    axes={**_SHARED, **PAGES, **HEADS, **_DIM},
    inputs={
        "unique_kv_indptr": Tensor(("len_indptr",), dtype="int32", doc="where pages begin"),
        "unique_kv_indices": Tensor(("used_pages",), dtype="int32", doc="pages of all requests"),
        "unique_kv_last_page_len": Tensor(("requests",), dtype="int32", doc="used slots of last"),
        **_SIZES,
        "q": Tensor(("requests", "num_qo_heads", "head_dim")),
        **_SHARED_KEYS,
    },
    outputs={"out": Tensor(("requests", "num_qo_heads", "head_dim"), dtype_from="q")},
    reference=_shared_decode,
    constraints=tuple(rule for rule in _POSSIBLE if "tokens" not in rule),
    tolerances=TOLERANCES,
    init=unique_init,
    bind=_bind_decode,
    bytes=_shared_bytes,
    at_default=("head_dim_vo",),
    op_type="gqa_paged",
    description="Attention of one query a request over shared keys and its own.",
)

BatchPrefillWithSharedPrefixPagedKVCacheWrapper = TraceTemplate(
    axes={"tokens": Var("queries of all requests"), **_SHARED, **PAGES, **HEADS, **_DIM},
    inputs={
        "qo_indptr": Tensor(("len_indptr",), dtype="int32", doc="where a request's queries begin"),
        "paged_kv_indptr": Tensor(("len_indptr",), dtype="int32", doc="where its pages begin"),
        "paged_kv_indices": Tensor(("used_pages",), dtype="int32", doc="pages of all requests"),
        "paged_kv_last_page_len": Tensor(("requests",), dtype="int32", doc="used slots of last"),
        **_SIZES,
        "q": Tensor(("tokens", "num_qo_heads", "head_dim")),
        **_SHARED_KEYS,
        **_CAUSAL,
    },
    outputs={"out": Tensor(("tokens", "num_qo_heads", "head_dim"), dtype_from="q")},
    reference=_shared_prefill,
    constraints=_POSSIBLE,
    tolerances=TOLERANCES,
    init=paged_init,
    bind=_bind_prefill,
    bytes=_shared_bytes,
    at_default=("use_fp16_qk_reduction", "head_dim_vo"),
    op_type="gqa_paged",
    description="Attention of several queries a request over shared keys and its own.",
)
