"""Offsets and scales as cuDNN's calls have them."""

from __future__ import annotations

import torch

from .._arguments.numbers import number
from .._settings import VALIDATE, is_on
from .prefill import Starts
from .scales import Scales, one

_Optional = torch.Tensor | None
_UNITS = ("elements", "tokens")


def offsets_of(
    op: str,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    most_queries: int,
    lens: tuple[_Optional, _Optional],
    offsets: tuple[_Optional, _Optional, _Optional, _Optional],
    units: str,
    *,
    in_pages: bool,
) -> Starts:
    """Read where requests begin and how long they are. `offsets` are those of q, out, k and v."""
    if units not in _UNITS:
        raise ValueError(
            f"{op}: argument 'batch_offsets_units' is {units!r}; it is one of {', '.join(_UNITS)}"
        )
    q_lens, kv_lens = lens
    of_q, of_out, of_k, of_v = offsets
    if q_lens is None and (units != "tokens" or of_q is None):
        raise ValueError(
            f"{op}: argument 'actual_seq_lens_q' is None; batch_offsets_q tells lengths where "
            "batch_offsets_units is 'tokens'"
        )
    if kv_lens is None and (units != "tokens" or of_k is None or in_pages):
        raise ValueError(
            f"{op}: argument 'actual_seq_lens_kv' is None; batch_offsets_k tells lengths of keys "
            "that are not in pages where batch_offsets_units is 'tokens'"
        )
    requests = len(q_lens) if q_lens is not None else len(of_q) - 1  # type: ignore[arg-type]
    if requests > 1 and (of_q is None or (of_k is None and not in_pages)):
        raise ValueError(
            f"{op}: argument '{'batch_offsets_k' if of_q is not None else 'batch_offsets_q'}' is "
            f"None; {requests} requests need to be told apart"
        )
    is_tokens = units == "tokens"
    q_unit = 1 if is_tokens else q.shape[1] * q.shape[2]
    kv_unit = 1 if is_tokens or in_pages else k.shape[1] * k.shape[2]
    if is_on(VALIDATE):
        ratio = 1 if is_tokens else v.shape[-1] / k.shape[-1]
        _check_same(op, "batch_offsets_o", of_out, of_q, ratio)
        if not in_pages:
            _check_same(op, "batch_offsets_v", of_v, of_k, ratio)
    kv_starts = None if in_pages else of_k
    return Starts(requests, most_queries, kv_lens, of_q, q_lens, kv_starts, q_unit, kv_unit)


def _check_same(op: str, name: str, given: _Optional, expected: _Optional, ratio: float) -> None:
    """Refuse offsets of rows that are elsewhere. It waits for the GPU."""
    if given is None or expected is None:
        return
    if given.is_cuda and torch.cuda.is_current_stream_capturing():
        return
    if not torch.equal(given.double().flatten(), expected.double().flatten() * ratio):
        raise ValueError(
            f"{op}: argument '{name}' is {given.tolist()}; rows are those of "
            f"{expected.tolist()}, which counts {ratio:g} of these for one"
        )


def scales_of(
    op: str, scale: float, given: tuple[_Optional, _Optional, _Optional], are_narrow: bool
) -> Scales:
    """Read the scales of queries, keys and values, which those of 8 bits have."""
    names = ("q_scale", "k_scale", "v_scale")
    if not are_narrow and any(x is not None for x in given):
        raise ValueError(
            f"{op}: argument '{names[[x is not None for x in given].index(True)]}' is given; scales "
            "are for queries of fp8"
        )
    q, k, v = (
        None if x is None else one(op, name, x) for name, x in zip(names, given, strict=True)
    )
    return Scales(number(op, "scale", scale), 1.0, q, k, v)


def padded_lse(op: str, packed: torch.Tensor, lse: _Optional, starts: Starts) -> torch.Tensor:
    """Copy (tokens, heads) to (requests, most queries, heads): -inf beyond a request's queries."""
    shape = (starts.requests, starts.most_queries, packed.shape[1])
    if lse is None:
        lse = packed.new_empty(shape)
    if tuple(lse.shape) != shape or lse.dtype is not torch.float32:
        raise ValueError(
            f"{op}: argument 'lse' has shape {tuple(lse.shape)} and dtype {lse.dtype}; it is {shape} "
            "of torch.float32"
        )
    rows = torch.arange(starts.most_queries, device=packed.device)
    begins, lens = packed.new_zeros(1, dtype=torch.int64), starts.q_lens
    if starts.q_starts is not None:
        begins = starts.q_starts.flatten().long() // starts.q_unit
        lens = begins.diff() if lens is None else lens
        begins = begins[: starts.requests]
    assert lens is not None
    at = (begins[:, None] + rows).clamp(max=max(len(packed) - 1, 0))
    is_there = rows < lens.flatten()[:, None]
    lse.copy_(packed[at]).masked_fill_(~is_there[..., None], -torch.inf)
    return lse
