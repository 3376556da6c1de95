"""Places of the exchange's parts in the memory of each rank: counts, places, payloads, replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

# Mirrors kernels/include/fictl/comm/moe_a2a.cuh.
_PLACES = 128
_ALIGNMENT = 128
MOST_PAYLOADS = 8
# Of its workspaces: what lies there between dispatch and combine, another op would overwrite.
PURPOSE = "moe_a2a"
_MAGIC = 0x6D6F65


def padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def aux_bytes(ep_size: int, max_num_tokens: int) -> int:
    """Return the bytes of counts and places, and of what payloads are padded by."""
    return _PLACES + padded(4 * max_num_tokens * ep_size) + MOST_PAYLOADS * _ALIGNMENT


def all_ranks(ep_size: int) -> int:
    """Return the bits of all ranks."""
    return (1 << ep_size) - 1


class Metainfo(NamedTuple):
    """Sizes that dispatch and combine of one workspace have in common."""

    ranks: int
    max_num_tokens: int

    def tensor(self) -> torch.Tensor:
        return torch.tensor([_MAGIC, *self], dtype=torch.int64)

    @classmethod
    def of(cls, op: str, value: torch.Tensor) -> Metainfo:
        magic, *sizes = value.tolist() if value.numel() == 1 + len(cls._fields) else [0]
        if magic != _MAGIC:
            raise ValueError(f"{op}: 'metainfo' is not what moe_a2a_initialize() returns")
        return cls(*sizes)

    @property
    def payloads(self) -> int:
        return _PLACES + padded(4 * self.max_num_tokens * self.ranks)

    def received(self, rows: Sequence[int], most: int) -> tuple[list[int], int]:
        """Return where each payload of so many bytes a row begins, and what is behind the last."""
        begins, at = [], self.payloads
        for bytes in rows:
            begins.append(at)
            at += padded(self.ranks * most * bytes)
        return begins, at
