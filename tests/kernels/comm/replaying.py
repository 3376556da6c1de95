"""Ops of several ranks, whose inputs and results follow from a count on the device.

So a captured graph makes other inputs at each replay, and compares what comes of them.
"""

from __future__ import annotations

from types import SimpleNamespace

import torch

from fictl.comm import Group, Workspace
from fictl.kernels.comm._all_reduce_workspace import AllReduceWorkspace
from fictl.kernels.comm._moe_alltoall import MoeAlltoAll
from fictl.kernels.comm.all_gather.op import all_gather
from fictl.kernels.comm.all_reduce_norm.op import all_reduce_norm
from fictl.kernels.comm.decode_cp_a2a.op import decode_cp_a2a_lse_reduce
from fictl.kernels.comm.reduce_scatter.op import reduce_scatter

_PERIOD = 64  # of the count: sums of it are exact in 16 bits
# Numbers of rows, by turns: calls of a workspace differ in their sizes.
ROWS = (3, 40)


class Repeated:
    """One rank's calls of an op. `count` is equal on all ranks behind as many calls."""

    def __init__(self, group: Group, device: str) -> None:
        self.rank, self.size, self.device = group.rank, group.size, device
        self.of_ranks = sum(range(group.size))
        self.count = torch.zeros((), device=device)

    def begin(self) -> None:
        """Count on, and make inputs of it."""
        self.count.add_(1).remainder_(_PERIOD)

    def call(self, rows: int) -> torch.Tensor:
        """Call the op on so many rows; results are complete behind its kernels."""
        raise NotImplementedError

    def expected(self) -> torch.Tensor:
        """Return what the results of any number of rows are compared with."""
        raise NotImplementedError

    def filled(self, *shape: int, dtype: torch.dtype = torch.half) -> torch.Tensor:
        """Make an input of the count and the rank."""
        return (self.count + self.rank).to(dtype).expand(shape).contiguous()


class Gathered(Repeated):
    def __init__(self, group: Group, device: str) -> None:
        super().__init__(group, device)
        self.workspace = Workspace(group, 1 << 20, device=device)

    def call(self, rows: int) -> torch.Tensor:
        return all_gather(self.filled(rows, 200), workspace=self.workspace).view(self.size, -1)

    def expected(self) -> torch.Tensor:
        return self.count + torch.arange(self.size, device=self.device).unsqueeze(1)


class Scattered(Gathered):
    def call(self, rows: int) -> torch.Tensor:
        return reduce_scatter(self.filled(self.size * rows, 200), workspace=self.workspace)

    def expected(self) -> torch.Tensor:
        return self.count * self.size + self.of_ranks


class Averaged(Gathered):
    def call(self, rows: int) -> torch.Tensor:
        lse = torch.zeros(rows, self.size, device=self.device)
        return decode_cp_a2a_lse_reduce(self.filled(rows, self.size, 64), lse, self.workspace)

    def expected(self) -> torch.Tensor:
        return self.count + self.of_ranks / self.size


class Normed(Repeated):
    """The new residual. What follows the kernel starts early where ranks have a GPU each."""

    def __init__(self, group: Group, device: str) -> None:
        super().__init__(group, device)
        self.workspace = AllReduceWorkspace(group, 1 << 20, device=device)
        self.weight = torch.ones(1024, dtype=torch.half, device=device)

    def call(self, rows: int) -> torch.Tensor:
        x = self.filled(rows, 1024)
        given = {"workspace": self.workspace, "triggers_early": True}
        return all_reduce_norm(x, torch.ones_like(x), self.weight, **given)[1]

    def expected(self) -> torch.Tensor:
        return self.count * self.size + self.of_ranks + 1


class Exchanged(Repeated):
    """Tokens that all ranks have experts of: more than before reach into what were replies."""

    def __init__(self, group: Group, device: str) -> None:
        super().__init__(group, device)
        mapping = SimpleNamespace(moe_ep_rank=self.rank, moe_ep_size=self.size, moe_ep_group=[])
        host = SimpleNamespace(comm_backend=group)
        self.exchange = MoeAlltoAll(
            mapping, max(ROWS), self.size, self.size, hidden_size=256, mnnvl_config=host
        )
        self.experts = torch.arange(self.size, dtype=torch.int32, device=device)

    def call(self, rows: int) -> torch.Tensor:
        experts = self.experts.expand(rows, -1).contiguous()
        (received,) = self.exchange.dispatch(experts, [self.filled(rows, 256)], rows)
        return self.exchange.combine(received, rows)

    def expected(self) -> torch.Tensor:
        return (self.count + self.rank) * self.size


OPS = (Gathered, Scattered, Averaged, Normed, Exchanged)
