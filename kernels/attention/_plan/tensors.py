"""Tensors of a run() checked against its plan."""

from __future__ import annotations

from typing import NamedTuple

import torch

from .._arguments.cache import PagedCache, keys_and_values
from .._arguments.options import Options
from .._config import FP4
from .lengths import Lengths
from .work_list import Counts


class Place:
    """Layout of keys and values: in pages or not, heads before tokens (`hnd`) or after.

    `head_dim` and `token_dim` are the dimensions of heads and of tokens, or of the slots of a page.
    """

    def __init__(self, *, paged: bool = False, hnd: bool = False) -> None:
        self.paged = paged
        self.hnd = hnd
        self.argument = "paged_kv_cache" if paged else "k"
        heads_first = (0, 1) if hnd else (1, 0)
        self.head_dim, self.token_dim = (dim + paged for dim in heads_first)

    def page_size(self, k: torch.Tensor) -> int:
        """Read the slots of a page; 0 where there are no pages."""
        return k.shape[self.token_dim] if self.paged else 0


class Usual(NamedTuple):
    """Tensors that fit a plan, as nearly all calls have them: compared at once, each call less is to
    be done. Of others check_tensors() says what is wrong, if anything is.
    """

    q: torch.Size
    page: torch.Size  # of keys, and of values
    both: torch.Size  # the same of a cache that stacks both
    slots: int
    q_dtype: torch.dtype
    kv_dtype: torch.dtype

    @staticmethod
    def of(place: Place, options: Options, counts: Counts, lengths: Lengths) -> Usual | None:
        """Return them; None where keys are in no pages, or values have other heads."""
        if not place.paged or options.kv is FP4 or options.head_dim != options.head_dim_v:
            return None
        slots = lengths.page_size
        page = (options.kv_heads, slots) if place.hnd else (slots, options.kv_heads)
        return Usual(
            torch.Size((counts.query_end, options.heads, options.head_dim)),
            torch.Size((*page, options.head_dim)),
            torch.Size((2, *page, options.head_dim)),
            slots,
            options.q,
            options.kv,
        )

    def are(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> bool:
        """Tell whether these tensors are such ones."""
        shape = k.shape
        return (
            q.shape == self.q
            and shape[1:] == self.page
            and v.shape == shape
            and q.dtype is self.q_dtype
            and k.dtype is self.kv_dtype
            and v.dtype is self.kv_dtype
        )

    def stacked(self, q: torch.Tensor, cache: torch.Tensor) -> bool:
        """Tell the same of a cache that stacks keys and values."""
        return (
            cache.shape[1:] == self.both
            and q.shape == self.q
            and q.dtype is self.q_dtype
            and cache.dtype is self.kv_dtype
        )


def addressable(x: torch.Tensor) -> torch.Tensor:
    """Copy what repeats one row for many: a tensor map has no stride of 0."""
    return x.contiguous() if 0 in x.stride() else x


def fitting(
    op: str,
    place: Place,
    planned: tuple[Options, Counts, Lengths],
    usual: Usual | None,
    q: torch.Tensor,
    k: PagedCache,
    v: torch.Tensor | None,
    takes_both: bool,
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Return keys, values and the size of a page; raise ValueError where they are not what was planned.

    k: without v, a paged cache of both. takes_both: whether the kernel's binding takes one that stacks
    both apart. Two views would take longer than all else that a call does in Python.
    """
    if v is not None:
        keys, values = k, v
    elif usual is not None and takes_both and isinstance(k, torch.Tensor) and usual.stacked(q, k):
        return k, k, usual.slots
    else:
        keys, values = keys_and_values(op, k, place.hnd)
    assert isinstance(keys, torch.Tensor)
    if usual is None or not usual.are(q, keys, values):
        check_tensors(op, place, planned, q, keys, values)
    return keys, values, place.page_size(keys)


def check_tensors(
    op: str,
    place: Place,
    planned: tuple[Options, Counts, Lengths],
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
) -> None:
    """Raise ValueError where queries, keys or values are not what plan() was told."""
    options, counts, lengths = planned
    shape = (counts.query_end, options.heads, options.head_dim)
    if tuple(q.shape) != shape:
        raise ValueError(f"{op}: argument 'q' has shape {tuple(q.shape)}, plan() was told {shape}")
    if q.dtype is not options.q:
        raise _dtype(op, "q", q.dtype, options.q)
    if k.dtype is not options.kv:
        raise _dtype(op, place.argument, k.dtype, options.kv)
    kv_shape = k.shape
    of_byte = 2 if options.kv is FP4 else 1
    inner = (kv_shape[place.head_dim], of_byte * kv_shape[-1])
    if inner != (options.kv_heads, options.head_dim):
        raise ValueError(
            f"{op}: argument '{place.argument}' has shape {tuple(kv_shape)}: {inner[0]} heads of "
            f"{inner[1]} values; plan() was told {options.kv_heads} of {options.head_dim}"
        )
    if v.shape != (*kv_shape[:-1], options.head_dim_v // of_byte) or v.dtype is not k.dtype:
        raise ValueError(
            f"{op}: keys have shape {tuple(kv_shape)} and dtype {k.dtype}, values "
            f"{tuple(v.shape)} and {v.dtype}; plan() was told heads of values of "
            f"{options.head_dim_v}"
        )
    tokens = kv_shape[place.token_dim]
    if place.paged and tokens != lengths.page_size:
        raise ValueError(
            f"{op}: argument 'paged_kv_cache' has pages of {tokens}, plan() was told "
            f"{lengths.page_size}"
        )
    if not place.paged and tokens < counts.key_end:
        raise ValueError(
            f"{op}: argument 'k' has {tokens} tokens, kv_indptr goes to {counts.key_end}"
        )


def _dtype(op: str, name: str, dtype: torch.dtype, planned: torch.dtype) -> ValueError:
    return ValueError(f"{op}: argument '{name}' has dtype {dtype}, plan() was told {planned}")
