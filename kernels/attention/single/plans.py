"""Plans of calls for one request, kept on the device for the calls that are like them.

A plan has its list of work and its counters; those of one stream share the memory for parts, since
their runs follow each other. So streams share nothing. A CUDA graph gets a plan of its own, for it
may run again when another plan has taken the place of a kept one.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable

import torch

from .._plan.attention import Attention
from .._plan.workspace import Scratch

# Decoding meets a new length at every step, and plans it for all layers once.
_MOST_PLANS = 64
_MOST_STREAMS = 16


class Plans:
    """The last plans by all that they depend on; the oldest goes where there is no more room."""

    def __init__(self, most: int = _MOST_PLANS) -> None:
        self._most = most
        self._kept: dict[Hashable, Attention] = {}
        self._scratch: dict[tuple[torch.device, int], Scratch] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: Hashable) -> Attention | None:
        """Return the plan of an earlier call like this."""
        return self._kept.get(key)

    def keep(self, key: Hashable, plan: Attention) -> None:
        """Keep a plan that has run, and whose list is on the device therefore."""
        plan.keep_list()
        with self._lock:
            while len(self._kept) >= self._most:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = plan

    def scratch(self, device: torch.device, stream: int) -> Scratch:
        """Return the memory for parts of all plans of a stream."""
        with self._lock:
            found = self._scratch.get((device, stream))
            if found is None:
                while len(self._scratch) >= _MOST_STREAMS:
                    del self._scratch[next(iter(self._scratch))]
                found = self._scratch[device, stream] = Scratch(device)
            return found

    def clear(self) -> None:
        """Forget all plans, and the memory with them."""
        with self._lock:
            self._kept.clear()
            self._scratch.clear()


def stream_of(device: torch.device) -> int | None:
    """Return the number of the current stream; None while a CUDA graph is captured from it.

    On the emulated device it is the thread, which runs its kernels one after the other.
    """
    if device.type != "cuda":
        return threading.get_ident()
    if torch.cuda.is_current_stream_capturing():
        return None
    # As in Triton and Inductor; torch.cuda.current_stream() needs a microsecond for an object.
    return torch._C._cuda_getCurrentRawStream(device.index)  # noqa: SLF001
