"""Kernels of a batch's two kinds of requests, side by side on one GPU."""

from __future__ import annotations

from collections.abc import Callable

import torch

from .._plan.attention import Work

# Operations that all SMs do in the time in which memory sends a byte.
_OPERATIONS_A_BYTE = 144
# Share of the SMs that can ask for as much as memory sends.
_ENOUGH_FOR_MEMORY = 0.5


def sms_for_many(few: Work, many: Work, sms: int) -> int:
    """Choose the SMs for the requests of many queries, while the others wait for memory.

    Few queries read their keys once, by half of the SMs as fast as by all; many do products. Both end
    together with this share.
    """
    options = many.options
    dims = options.head_dim + options.head_dim_v
    queries, keys = _sizes(many)
    scores = queries * (keys - queries * (0.5 if options.causal else 0.0))
    products = 2 * options.heads * dims * float(scores.sum()) / _OPERATIONS_A_BYTE
    read = options.kv_heads * dims * options.kv.itemsize * float(_sizes(few)[1].sum())
    share = products / max(products + _ENOUGH_FOR_MEMORY * read, 1.0)
    return min(max(round(share * sms), 1), sms)


def _sizes(work: Work) -> tuple[torch.Tensor, torch.Tensor]:
    """Return how many queries and keys the requests have."""
    lengths = work.lengths
    assert lengths.qo is not None
    assert lengths.kv_lens is not None
    return lengths.qo.diff().double(), lengths.kv_lens.double()


class Beside:
    """A second stream of a GPU, for work that runs beside that of the current one."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream: torch.cuda.Stream | None = None

    def run(self, first: Callable[[], object], beside: Callable[[], object]) -> None:
        """Launch `first`, and `beside` on the other stream: the current one then waits for both."""
        if self._device.type != "cuda":
            first()
            beside()
            return
        current = torch.cuda.current_stream(self._device)
        if self._stream is None:
            self._stream = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        self._stream.wait_stream(current)
        first()
        with torch.cuda.stream(self._stream):
            beside()
        current.wait_stream(self._stream)
