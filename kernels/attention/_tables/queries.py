"""Numbers of queries of requests, and the words for kernels."""

from __future__ import annotations

from typing import NamedTuple

import torch

_BACKENDS = ("auto", "xqa", "trtllm-gen")


class Queries(NamedTuple):
    """Queries of a request: so many, or as many as `starts` says, (requests + 1,), and `most`."""

    most: int
    starts: torch.Tensor | None = None


def check_backend(op: str, backend: str) -> None:
    """Refuse backends that FlashInfer lacks for these calls; here there is one kernel."""
    if backend not in _BACKENDS:
        raise NotImplementedError(
            f"{op}: argument 'backend' is {backend!r}; there are "
            f"{', '.join(map(repr, _BACKENDS))}, all of them fictl's own kernel"
        )


def query_count(op: str, name: str, value: int | None) -> int:
    """Check how many queries a request has."""
    if isinstance(value, int) and value >= 1:
        return value
    raise ValueError(f"{op}: argument '{name}' is {value!r}; it is a number from 1 on")


def queries_of(
    op: str, q_len_per_req: int | None, max_q_len: int | None, starts: torch.Tensor | None
) -> Queries:
    """Read how many queries requests have: as many each, or as `starts` says."""
    if starts is None:
        if max_q_len is not None:
            raise ValueError(
                f"{op}: argument 'max_q_len' is {max_q_len}, and 'cum_seq_lens_q' is None; pass both"
            )
        return Queries(query_count(op, "q_len_per_req", q_len_per_req))
    return Queries(query_count(op, "max_q_len", max_q_len), starts)
