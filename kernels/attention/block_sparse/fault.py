"""Reasons why a plan on the device does not fit, which the host reads once they have arrived."""

from __future__ import annotations

from collections.abc import Mapping

import torch

_NUMBERS = 5  # kind, head, index, found, bound: PlanFault of block_sparse.cuh
_KINDS = (
    "",
    "row_size",
    "col_size",
    "row_sizes",
    "col_sizes",
    "too_long",
    "offsets",
    "index",
)


class PlanFault:
    """The first reason why the last plan does not fit; `words` say it, by its kind.

    The GPU writes it, and copies it to the host behind the plan. Nothing waits for it, so that it is
    the next call after its arrival which raises.
    """

    def __init__(self, op: str, device: torch.device, words: Mapping[str, str]) -> None:
        self._op = op
        self._device = device
        self._words = words
        self._on_host: torch.Tensor | None = None
        self._arrived: torch.cuda.Event | None = None
        self.numbers = torch.zeros(_NUMBERS, dtype=torch.int64, device=device)

    def send(self, *, wait: bool) -> None:
        """Copy it to the host behind what was launched; with `wait`, raise it at once.

        A CUDA graph that is captured sends nothing.
        """
        if self._device.type != "cuda":
            self._on_host = self.numbers
        elif torch.cuda.is_current_stream_capturing():
            return
        else:
            # Why a new one: the copy before may still be on its way.
            self._on_host = torch.zeros(_NUMBERS, dtype=torch.int64, pin_memory=True)
            self._on_host.copy_(self.numbers, non_blocking=True)
            self._arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._arrived.record()
            if wait:
                self._arrived.synchronize()
        if wait:
            self.check()

    def _has_arrived(self) -> bool:
        if self._arrived is None:
            return True
        return not torch.cuda.is_current_stream_capturing() and bool(
            self._arrived.query()  # type: ignore[no-untyped-call]
        )

    def check(self) -> None:
        """Raise ValueError if a reason has arrived."""
        if self._on_host is None or not self._has_arrived():
            return
        kind, head, index, seen, bound = self._on_host.tolist()
        self._on_host = self._arrived = None
        if kind:
            words = self._words[_KINDS[kind]]
            raise ValueError(
                f"{self._op}: {words.format(head=head, index=index, seen=seen, bound=bound)}"
            )
