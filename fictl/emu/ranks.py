"""Ranks of the emulated device: their launches are kept, and run at the same time."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fictl.emu.watched import Watched


@dataclass
class Ranks:
    """Launches of several ranks, until run() or discard()."""

    runtime: ctypes.CDLL
    rank: int = 0
    tensors: list[Watched] = field(default_factory=list)
    arguments: list[Any] = field(default_factory=list)  # alive until the kernels have run

    def begin(self) -> None:
        self.runtime.fictl_emu_ranks_begin()

    def next(self, rank: int) -> None:
        """Make later launches those of `rank`. Launches of one rank run one after another."""
        self.rank = rank
        self.runtime.fictl_emu_ranks_next(rank)

    def add(self, tensors: Sequence[Watched]) -> list[Watched]:
        """Return the tensors of all calls; names begin with the rank."""
        prefix = f"rank {self.rank}: "
        self.tensors += [replace(tensor, name=prefix + tensor.name) for tensor in tensors]
        return self.tensors

    def run(self) -> int:
        """Run what was launched, and return the CUDA error."""
        return int(self.runtime.fictl_emu_ranks_end(1))

    def discard(self) -> None:
        self.runtime.fictl_emu_ranks_end(0)
