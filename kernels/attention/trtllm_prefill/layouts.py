"""Places of queries, keys and values, by FlashInfer's words for the layouts of one argument."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

_SHAPES = {
    "PACKED_QKV": "a tensor (tokens, 3, heads, head_dim)",
    "CONTIGUOUS_Q_KV": "a tuple of queries and (keys, 2, heads, head_dim)",
    "SEPARATE_Q_K_V": "a tuple of queries, keys and values, (tokens, heads, head_dim)",
    "Q_PAGED_KV_NHD": "a tuple of queries and (pages, 2, page_size, heads, head_dim) or a pair",
    "Q_PAGED_KV_HND": "a tuple of queries and (pages, 2, heads, page_size, head_dim) or a pair",
}


class Laid(NamedTuple):
    """Views of queries, keys and values; `tables` is None for keys that are not in pages."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    tables: torch.Tensor | None
    hnd: bool


def laid_out(op: str, qkv: Any, layout: str, tables: torch.Tensor | None) -> Laid:
    """View what `layout` says."""
    if layout not in _SHAPES:
        raise ValueError(
            f"{op}: argument 'input_layout' is {layout!r}; it is one of {', '.join(_SHAPES)}"
        )
    in_pages = layout.startswith("Q_PAGED_KV")
    if in_pages and tables is None:
        raise ValueError(f"{op}: argument 'block_tables' is None; {layout!r} has pages")
    parts = _parts(qkv, layout)
    if parts is None or any(x.ndim != n for x, n in zip(parts, _ndims(in_pages), strict=True)):
        raise ValueError(f"{op}: argument 'qkv' is {_said_of(qkv)}; it is {_SHAPES[layout]}")
    q, k, v = parts
    if not in_pages:
        return Laid(q, k, v, None, hnd=False)
    assert tables is not None
    # FlashInfer's tables of both count pages of values from where keys begin.
    if tables.ndim == 3:
        if k.stride() != v.stride():
            raise ValueError(
                f"{op}: argument 'qkv' has keys with strides {k.stride()}, values with {v.stride()}; "
                "one table counts pages of both, which are as far apart"
            )
        v = k
    return Laid(q, k, v, tables, hnd=layout.endswith("HND"))


def _parts(qkv: Any, layout: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None:
    """Take queries, keys and values apart; None where there are others."""
    if layout == "PACKED_QKV":
        fits = isinstance(qkv, torch.Tensor) and qkv.ndim == 4 and qkv.shape[1] == 3
        return tuple(qkv.unbind(1)) if fits else None
    if not isinstance(qkv, tuple | list):
        return None
    if layout == "SEPARATE_Q_K_V":
        return tuple(qkv) if len(qkv) == 3 else None
    if len(qkv) != 2:
        return None
    q, both = qkv
    if isinstance(both, tuple | list):
        is_pair = layout != "CONTIGUOUS_Q_KV" and len(both) == 2
        return (q, *both) if is_pair else None
    stacked = both.ndim == (4 if layout == "CONTIGUOUS_Q_KV" else 5) and both.shape[1] == 2
    return (q, *both.unbind(1)) if stacked else None


def _ndims(in_pages: bool) -> tuple[int, int, int]:
    return (3, 4, 4) if in_pages else (3, 3, 3)


def _said_of(qkv: Any) -> str:
    if isinstance(qkv, torch.Tensor):
        return f"of shape {tuple(qkv.shape)}"
    if isinstance(qkv, tuple | list):
        return f"({', '.join(map(_said_of, qkv))})"
    return f"a {type(qkv).__name__}"
