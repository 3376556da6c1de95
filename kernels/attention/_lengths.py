"""The lengths of a batch's requests, on the host, where the planner reads them."""

from __future__ import annotations

from typing import NamedTuple

import torch

_INTEGERS = (torch.int32, torch.int64)
_Tensors = tuple[torch.Tensor | None, torch.Tensor, torch.Tensor | None, torch.Tensor | None]
_NAMES = ("qo_indptr", "kv_indptr", "last_page_len", "seq_lens")


class Lengths(NamedTuple):
    """int32 on the host. `names` are the arguments that they came as, for messages.

    `qo` is None where every request has `q_len` queries; `page_size` is 0 where `kv` counts tokens.
    """

    requests: int
    kv: torch.Tensor
    qo: torch.Tensor | None = None
    q_len: int = 1
    page_size: int = 0
    last_page_len: torch.Tensor | None = None
    kv_lens: torch.Tensor | None = None
    names: tuple[str, str, str, str] = _NAMES

    def uniform(self, q_len: int | None) -> Lengths:
        """The same where each request has `q_len` queries, with that for all that is said of them."""
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
    last_page_len: torch.Tensor | None = None,
    kv_lens: torch.Tensor | None = None,
    *,
    q_len: int = 1,
    page_size: int = 0,
    names: tuple[str, str, str, str] = _NAMES,
) -> Lengths:
    """Read back in one copy where they are on a GPU; nothing is waited for where they are not."""
    given = (qo, kv, last_page_len, kv_lens)
    # Why one loop with nothing called in it: a plan has a few microseconds for this.
    requests, is_ready = kv.numel() - 1, True
    for at, each in enumerate(given):
        if each is None:
            continue
        count = requests + 1 if at < 2 else requests
        if each.dtype not in _INTEGERS or each.shape != (count,) or requests < 0:
            raise _unlike(op, names[at], each, requests + (at < 2))
        is_ready = is_ready and each.is_cpu and each.dtype is torch.int32 and each.is_contiguous()
    qo, kv, last_page_len, kv_lens = given if is_ready else _on_host(given)
    last_page_len = None if kv_lens is not None else last_page_len
    return Lengths(requests, kv, qo, q_len, page_size, last_page_len, kv_lens, names)


def _on_host(given: _Tensors) -> _Tensors:
    """As contiguous int32. Those of a GPU come in one copy."""
    away = [each for each in given if each is not None and not each.is_cpu]
    parts: list[torch.Tensor] = []
    if away:
        together = torch.cat(away) if len(away) > 1 else away[0]
        here = together.cpu().to(torch.int32)
        parts = list(torch.split(here, [each.numel() for each in away]))
    qo, kv, last_page_len, kv_lens = (
        each if each is None else (each if each.is_cpu else parts.pop(0)).int().contiguous()
        for each in given
    )
    assert kv is not None
    return qo, kv, last_page_len, kv_lens


class Indices(NamedTuple):
    """Of pages, and the argument that they came as."""

    name: str
    pages: torch.Tensor

    def check(self, op: str, lengths: Lengths, end: int) -> None:
        """They are as many as the lengths reach to."""
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


class Refusals:
    """Why the planner makes no plan: what it found, in words."""

    _WORDS = (
        "",
        "argument '{qo}' goes from {bound} to {found} at request {request}; it starts at 0 or later and never falls",
        "argument '{kv}' goes from {bound} to {found} at request {request}; it starts at 0 or later and never falls",
        "argument '{last}' is {found} at request {request}; it is 1 to page_size, which is {bound}",
        "argument '{lens}' is {found} at request {request}, whose pages hold 0 to {bound} keys",
        "request {request} needs the number {found}; rows, keys, mask bytes and blocks are counted by int32",
        "argument '{qo}' has {found} queries; the first plan() of this wrapper for CUDA graphs had {bound}, and no later one may have more",
        "the plan has {found} items of work, for which CUDA graphs have room for {bound}; leave fixed_split_size out, or make it larger",
        "the plan has {found} rows of partial results, for which CUDA graphs have room for {bound}; leave fixed_split_size out, or make it larger",
    )

    @classmethod
    def error(cls, op: str, lengths: Lengths, kind: int, numbers: list[int]) -> ValueError:
        qo, kv, last, lens = lengths.names
        request, found, bound = numbers
        words = cls._WORDS[kind].format(
            qo=qo, kv=kv, last=last, lens=lens, request=request, found=found, bound=bound
        )
        return ValueError(f"{op}: {words}")
