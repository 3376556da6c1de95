"""Ranks of one process that all-reduce, and what a rank-ordered sum in fp32 gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist

from fictl.comm import Group
from fictl.kernels.comm._all_reduce_workspace import AllReduceWorkspace
from fictl.testing import run_ranks

STRATEGIES = ("lamport", "one-shot", "lamport-two-shot", "two-shot")
_MOST_BLOCKS = 4  # the word of a workspace's table


class Reducing:
    """A workspace of each rank."""

    def __init__(self, size: int, device: str, bytes: int = 1 << 16) -> None:
        self.workspaces = [
            AllReduceWorkspace(group, bytes, device=device) for group in Group.local(size)
        ]

    def limit_blocks(self, most: int) -> None:
        """Let each rank launch as many blocks at most: each of them has more to do then."""
        for workspace in self.workspaces:
            workspace.shared.table[_MOST_BLOCKS] = most

    def call(self, op: Callable[..., Any], *inputs: Sequence[Any], **options: Any) -> list[Any]:
        """Call op(…, workspace=…) on every rank, with its own of each of the inputs."""

        def of(rank: int) -> Callable[[], Any]:
            mine = [every[rank] for every in inputs]
            return lambda: op(*mine, workspace=self.workspaces[rank], **options)

        return run_ranks([of(rank) for rank in range(len(self.workspaces))])


def rank_sum(inputs: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the sum in fp32, in the order of the ranks, rounded once; +0.0 for -0.0."""
    total = torch.zeros_like(inputs[0], dtype=torch.float32)
    for x in inputs:
        total += x.float()
    return total.to(inputs[0].dtype)


def of_all_ranks(x: torch.Tensor) -> list[torch.Tensor]:
    """Return the tensors of all ranks of torch's default group."""
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x)
    return parts


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Compare also what == does not tell apart: NaN, and zeros of two signs."""
    first, second = (x.clone(memory_format=torch.contiguous_format) for x in (a, b))
    return torch.equal(first.view(torch.uint8), second.view(torch.uint8))
