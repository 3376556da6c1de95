"""Tensors of a run() checked against its plan."""

from __future__ import annotations

from typing import NamedTuple

import torch

from .._arguments.options import Options
from .lengths import Lengths
from .work_list import Counts


class Place(NamedTuple):
    """Layout of keys and values: in pages or not, heads before tokens (`hnd`) or after."""

    paged: bool = False
    hnd: bool = False

    @property
    def argument(self) -> str:
        """The argument that has the keys."""
        return "paged_kv_cache" if self.paged else "k"

    @property
    def dims(self) -> tuple[int, int]:
        """The dimensions of heads and of tokens, or of the slots of a page."""
        if self.paged:
            return (1, 2) if self.hnd else (2, 1)
        return (0, 1) if self.hnd else (1, 0)

    def page_size(self, k: torch.Tensor) -> int:
        """Read the slots of a page; 0 where there are no pages."""
        return k.shape[2 if self.hnd else 1] if self.paged else 0


def check_tensors(
    op: str, place: Place, options: Options, counts: Counts, lengths: Lengths, *qkv: torch.Tensor
) -> None:
    """Raise ValueError where queries, keys or values are not what plan() was told."""
    q, k, v = qkv
    shape = (counts.query_end, options.heads, options.head_dim)
    if tuple(q.shape) != shape:
        raise ValueError(f"{op}: argument 'q' has shape {tuple(q.shape)}, plan() was told {shape}")
    if q.dtype is not options.q:
        raise _dtype(op, "q", q.dtype, options.q)
    if k.dtype is not options.kv:
        raise _dtype(op, place.argument, k.dtype, options.kv)
    head, slot = place.dims
    inner = (k.shape[head], k.shape[-1])
    if inner != (options.kv_heads, options.head_dim):
        raise ValueError(
            f"{op}: argument '{place.argument}' has shape {tuple(k.shape)}: {inner[0]} heads of "
            f"{inner[1]} values; plan() was told {options.kv_heads} of {options.head_dim}"
        )
    if v.shape != k.shape or v.dtype is not k.dtype:
        raise ValueError(
            f"{op}: keys have shape {tuple(k.shape)} and dtype {k.dtype}, values "
            f"{tuple(v.shape)} and {v.dtype}"
        )
    _check_tokens(op, place, k.shape[slot], lengths.page_size, counts.key_end)


def _check_tokens(op: str, place: Place, tokens: int, page_size: int, key_end: int) -> None:
    if place.paged and tokens != page_size:
        raise ValueError(
            f"{op}: argument 'paged_kv_cache' has pages of {tokens}, plan() was told {page_size}"
        )
    if not place.paged and tokens < key_end:
        raise ValueError(f"{op}: argument 'k' has {tokens} tokens, kv_indptr goes to {key_end}")


def _dtype(op: str, name: str, dtype: torch.dtype, planned: torch.dtype) -> ValueError:
    return ValueError(f"{op}: argument '{name}' has dtype {dtype}, plan() was told {planned}")
