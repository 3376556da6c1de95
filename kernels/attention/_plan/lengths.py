"""Lengths of a batch's requests, on the host, where the planner reads them."""

from __future__ import annotations

from typing import NamedTuple

import torch

from .shift import Shift

_INTEGERS = (torch.int32, torch.int64)
_Tensors = tuple[torch.Tensor | None, torch.Tensor, torch.Tensor | None, torch.Tensor | None]
_NAMES = ("qo_indptr", "kv_indptr", "last_page_len", "seq_lens")


class Lengths(NamedTuple):
    """Lengths as contiguous int32 on the host.

    `qo` is None where every request has `q_len` queries; `page_size` is 0 where `kv` counts tokens.
    `names` are the names of the arguments, for messages. `shift` moves what is planned, where these
    are some requests of a batch.
    """

    requests: int
    kv: torch.Tensor
    qo: torch.Tensor | None = None
    q_len: int = 1
    page_size: int = 0
    last_page_len: torch.Tensor | None = None
    kv_lens: torch.Tensor | None = None
    names: tuple[str, str, str, str] = _NAMES
    shift: Shift | None = None

    def uniform(self, q_len: int | None) -> Lengths:
        """Replace qo by `q_len` where every request has as many queries; else nothing changes."""
        if (
            not q_len
            or self.qo is None
            or int(self.qo[0])
            or not bool((self.qo.diff() == q_len).all())
        ):
            return self
        return self._replace(qo=None, q_len=q_len)


def lengths(
    op: str,
    kv: torch.Tensor,
    qo: torch.Tensor | None = None,
    *,
    last_page_len: torch.Tensor | None = None,
    kv_lens: torch.Tensor | None = None,
    q_len: int = 1,
    page_size: int = 0,
    names: tuple[str, str, str, str] = _NAMES,
) -> Lengths:
    """Read lengths; those on a GPU come in one copy, and nothing is waited for if there are none."""
    tensors = (qo, kv, last_page_len, kv_lens)
    # Why one loop with nothing called in it: a plan has a few microseconds for this.
    requests, is_ready = kv.numel() - 1, True
    for at, x in enumerate(tensors):
        if x is None:
            continue
        count = requests + 1 if at < 2 else requests
        if x.dtype not in _INTEGERS or x.shape != (count,) or requests < 0:
            raise _unlike(op, names[at], x, requests + (at < 2))
        is_ready = is_ready and x.is_cpu and x.dtype is torch.int32 and x.is_contiguous()
    qo, kv, last_page_len, kv_lens = tensors if is_ready else _on_host(tensors)
    last_page_len = None if kv_lens is not None else last_page_len
    return Lengths(requests, kv, qo, q_len, page_size, last_page_len, kv_lens, names)


def _on_host(tensors: _Tensors) -> _Tensors:
    """Copy to the host as contiguous int32. Those of a GPU come in one copy."""
    away = [x for x in tensors if x is not None and not x.is_cpu]
    parts: list[torch.Tensor] = []
    if away:
        together = torch.cat(away) if len(away) > 1 else away[0]
        here = together.cpu().to(torch.int32)
        parts = list(torch.split(here, [x.numel() for x in away]))
    qo, kv, last_page_len, kv_lens = (
        x if x is None else (x if x.is_cpu else parts.pop(0)).int().contiguous() for x in tensors
    )
    assert kv is not None
    return qo, kv, last_page_len, kv_lens


class Indices(NamedTuple):
    """Indices of pages, and the name of the argument that they came as."""

    name: str
    pages: torch.Tensor

    def check(self, op: str, lengths: Lengths, end: int) -> None:
        """Raise an error if there are fewer than the lengths reach to."""
        pages = self.pages
        if pages.ndim != 1 or pages.dtype not in _INTEGERS:
            raise TypeError(
                f"{op}: argument '{self.name}' has shape {tuple(pages.shape)} and dtype "
                f"{pages.dtype}; it is (used pages,) of torch.int32"
            )
        if pages.shape[0] < end:
            raise ValueError(
                f"{op}: argument '{self.name}' has {pages.shape[0]} elements, "
                f"'{lengths.names[1]}' goes to {end}"
            )


def _unlike(op: str, name: str, x: torch.Tensor, count: int) -> Exception:
    if x.dtype not in _INTEGERS:
        return TypeError(f"{op}: argument '{name}' is of {x.dtype}; pass a tensor of int32")
    here = f"here it is ({count},)" if count else "it is (requests + 1,)"
    return ValueError(f"{op}: argument '{name}' has shape {tuple(x.shape)}; {here}")
