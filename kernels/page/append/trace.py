"""Traces of append_paged_kv_cache and append_paged_mla_kv_cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fictl.trace import Const, Expr, Tensor, TraceTemplate, Var

from .._tokens import check_tokens, make_tokens


def slots(
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    page_size: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the tokens that are not padding, the page of each, and its slot there."""
    token = (batch_indices >= 0).nonzero()[:, 0]
    request, position = batch_indices[token].long(), positions[token].long()
    page = kv_indices[kv_indptr[request].long() + position // page_size].long()
    return token, page, position % page_size


def _reference(
    append_key: torch.Tensor,
    append_value: torch.Tensor,
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    paged_kv_cache: torch.Tensor,
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    kv_last_page_len: torch.Tensor,
) -> torch.Tensor:
    page_size = paged_kv_cache.shape[2]
    token, page, slot = slots(batch_indices, positions, kv_indices, kv_indptr, page_size)
    cache = paged_kv_cache.clone()
    cache[page, 0, slot] = append_key[token]
    cache[page, 1, slot] = append_value[token]
    return cache


def _mla_reference(
    append_ckv: torch.Tensor,
    append_kpe: torch.Tensor,
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    ckv_cache: torch.Tensor,
    kpe_cache: torch.Tensor,
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    kv_last_page_len: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    page_size = ckv_cache.shape[1]
    token, page, slot = slots(batch_indices, positions, kv_indices, kv_indptr, page_size)
    ckv, kpe = ckv_cache.clone(), kpe_cache.clone()
    ckv[page, slot] = append_ckv[token]
    kpe[page, slot] = append_kpe[token]
    return ckv, kpe


def _bytes(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    """Count the rows of the new tokens; the rest of the caches is not touched."""
    rows = [inputs[n] for n in ("append_key", "append_value") if n in inputs]
    rows += [inputs[n] for n in ("append_ckv", "append_kpe") if n in inputs]
    return sum(2 * x.numel() * x.element_size() for x in rows)


_AXES: dict[str, Var | Const | Expr] = {
    "tokens": Var("new tokens"),
    "requests": Var("requests that they are of"),
    "len_indptr": Expr("requests + 1", "requests, and one"),
    "pages": Var("pages of the cache"),
    "used_pages": Var("pages of the requests"),
    "page_size": Const("slots a page", "ps"),
}
_TOKENS = {
    "batch_indices": Tensor(("tokens",), dtype="int32", doc="the request of each token"),
    "positions": Tensor(("tokens",), dtype="int32", doc="its position in it"),
}
_TABLE = {
    "kv_indices": Tensor(("used_pages",), dtype="int32", doc="the pages of all requests"),
    "kv_indptr": Tensor(("len_indptr",), dtype="int32", doc="where those of a request begin"),
    "kv_last_page_len": Tensor(("requests",), dtype="int32", doc="used slots of their last pages"),
}
_CONSTRAINTS = (
    "requests >= 1",
    "pages >= used_pages",
    "used_pages >= requests",
    "(tokens + requests - 1) // requests <= used_pages // requests * page_size",
)
# A copy is exact.
_EXACT: dict[str, tuple[float, float]] = {}

append_paged_kv_cache = TraceTemplate(
    axes=_AXES
    | {
        "kv": Const("keys and values", value=2),
        "heads": Const("heads of keys and values", "h"),
        "dim": Const("values a head", "d"),
    },
    inputs={
        "append_key": Tensor(("tokens", "heads", "dim")),
        "append_value": Tensor(("tokens", "heads", "dim"), dtype_from="append_key"),
        **_TOKENS,
        "paged_kv_cache": Tensor(
            ("pages", "kv", "page_size", "heads", "dim"), dtype_from="append_key"
        ),
        **_TABLE,
    },
    outputs={
        "paged_kv_cache": Tensor(
            ("pages", "kv", "page_size", "heads", "dim"), dtype_from="append_key"
        )
    },
    reference=_reference,
    constraints=_CONSTRAINTS,
    tolerances=_EXACT,
    init=make_tokens,
    validate=check_tokens,
    extremes=("zeros", "small", "large", "nonfinite"),
    bytes=_bytes,
    op_type="page",
    description="Copy keys and values of new tokens into a paged cache.",
)

append_paged_mla_kv_cache = TraceTemplate(
    axes=_AXES
    | {
        "ckv_dim": Const("values of a latent vector", "ckv"),
        "kpe_dim": Const("values of a rotated key", "kpe"),
    },
    inputs={
        "append_ckv": Tensor(("tokens", "ckv_dim")),
        "append_kpe": Tensor(("tokens", "kpe_dim"), dtype_from="append_ckv"),
        **_TOKENS,
        "ckv_cache": Tensor(("pages", "page_size", "ckv_dim"), dtype_from="append_ckv"),
        "kpe_cache": Tensor(("pages", "page_size", "kpe_dim"), dtype_from="append_ckv"),
        **_TABLE,
    },
    outputs={
        "ckv_cache": Tensor(("pages", "page_size", "ckv_dim"), dtype_from="append_ckv"),
        "kpe_cache": Tensor(("pages", "page_size", "kpe_dim"), dtype_from="append_ckv"),
    },
    reference=_mla_reference,
    constraints=_CONSTRAINTS,
    tolerances=_EXACT,
    init=make_tokens,
    validate=check_tokens,
    extremes=("zeros", "small", "large", "nonfinite"),
    bytes=_bytes,
    op_type="page",
    description="Copy latent vectors and rotated keys of new tokens into MLA's paged caches.",
)
