"""Mapping of ranks to groups, and what their communicators are made of, as engines pass them."""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from dataclasses import dataclass
from typing import Any

from fictl.errors import InvalidValue

__all__ = ["Mapping", "MnnvlConfig", "TorchDistBackend"]

_FIELDS = (
    *("world_size", "rank", "gpus_per_node", "cp_size", "tp_size", "pp_size"),
    *("moe_tp_size", "moe_cluster_size", "moe_ep_size"),
    *("attn_tp_size", "attn_cp_size", "auto_parallel"),
)


class Mapping:
    """The world's ranks: pipeline stages, in each context-parallel rows of tensor-parallel ranks.

    Rank = (pp_rank * cp_size + cp_rank) * tp_size + tp_rank. In a row, experts are divided among
    moe_ep_size adjacent ranks. Sizes of -1 follow from the others.
    """

    def __init__(
        self,
        world_size: int = 1,
        rank: int = 0,
        gpus_per_node: int = 8,
        *,
        cp_size: int = 1,
        cp_config: Any = None,
        tp_size: int = 1,
        pp_size: int = 1,
        moe_cluster_size: int = -1,
        moe_tp_size: int = -1,
        moe_ep_size: int = -1,
        attn_tp_size: int = -1,
        attn_cp_size: int = -1,
        auto_parallel: bool = False,
        enable_attention_dp: bool = False,
    ) -> None:
        self.world_size, self.rank, self.gpus_per_node = world_size, rank, gpus_per_node
        self.cp_size, self.tp_size, self.pp_size = cp_size, tp_size, pp_size
        self.cp_config = cp_config or {}
        self.auto_parallel, self.enable_attention_dp = auto_parallel, enable_attention_dp
        self.moe_cluster_size = max(1, moe_cluster_size)
        rest = tp_size // self.moe_cluster_size
        self.moe_ep_size = _given(moe_ep_size, rest // moe_tp_size if moe_tp_size > 0 else 1)
        self.moe_tp_size = _given(moe_tp_size, rest // self.moe_ep_size)
        both = tp_size * cp_size
        self.attn_cp_size = _given(attn_cp_size, both // attn_tp_size if attn_tp_size > 0 else 1)
        self.attn_tp_size = _given(attn_tp_size, both // self.attn_cp_size)
        self._check()

    def _check(self) -> None:
        if not self.auto_parallel and self.world_size != self.tp_size * self.pp_size * self.cp_size:
            raise InvalidValue(
                f"world_size is {self.world_size}, but tp_size {self.tp_size} * pp_size "
                f"{self.pp_size} * cp_size {self.cp_size} is another number"
            )
        if self.moe_tp_size * self.moe_ep_size * self.moe_cluster_size != self.tp_size:
            raise InvalidValue(
                f"tp_size is {self.tp_size}, but moe_tp_size {self.moe_tp_size} * moe_ep_size "
                f"{self.moe_ep_size} * moe_cluster_size {self.moe_cluster_size} is another number"
            )
        if not self.enable_attention_dp and not 0 <= self.rank < self.world_size:
            raise InvalidValue(f"rank {self.rank} of {self.world_size} ranks")

    @property
    def tp_rank(self) -> int:
        return 0 if self.auto_parallel else self.rank % self.tp_size

    @property
    def cp_rank(self) -> int:
        return 0 if self.auto_parallel else self.rank // self.tp_size % self.cp_size

    @property
    def pp_rank(self) -> int:
        return 0 if self.auto_parallel else self.rank // (self.tp_size * self.cp_size)

    @property
    def moe_ep_rank(self) -> int:
        return self.tp_rank % self.moe_ep_size

    @property
    def moe_cluster_rank(self) -> int:
        return self.tp_rank % self.moe_cluster_size

    @property
    def moe_tp_rank(self) -> int:
        return self.tp_rank // (self.moe_ep_size * self.moe_cluster_size)

    @property
    def tp_group(self) -> list[int]:
        first = self.rank - self.tp_rank
        return list(range(first, first + self.tp_size))

    @property
    def cp_group(self) -> list[int]:
        first = self.rank - self.cp_rank * self.tp_size
        return list(range(first, first + self.cp_size * self.tp_size, self.tp_size))

    @property
    def pp_group(self) -> list[int]:
        stage = self.tp_size * self.cp_size
        return list(range(self.rank % stage, self.world_size, stage))

    @property
    def moe_ep_group(self) -> list[int]:
        first = self.rank - self.moe_ep_rank
        return list(range(first, first + self.moe_ep_size))

    @property
    def moe_tp_group(self) -> list[int]:
        row, step = self.rank - self.tp_rank, self.moe_ep_size * self.moe_cluster_size
        return list(range(row + self.tp_rank % step, row + self.tp_size, step))

    @property
    def node_rank(self) -> int:
        return self.rank // self.gpus_per_node

    @property
    def local_rank(self) -> int:
        return self.rank % self.gpus_per_node

    def is_multi_node(self) -> bool:
        return self.world_size > self.gpus_per_node

    def ep_experts(self, num_experts: int) -> list[int]:
        here = num_experts // self.moe_ep_size
        return list(range(self.moe_ep_rank * here, (self.moe_ep_rank + 1) * here))

    @classmethod
    def from_dict(cls, mapping: Dictionary[str, Any]) -> Mapping:
        return cls(**mapping)

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(tuple(self.to_dict().values()))


@dataclass
class MnnvlConfig:
    """Options of memory that ranks share; `comm_backend` is what they meet with, others are unused."""

    comm_backend: Any = None
    fabric_page_size: int = 1 << 29
    allocation_granularity: int = 0


class TorchDistBackend:
    """Collectives of a torch.distributed group, by the names of mpi4py."""

    def __init__(self, group: Any = None) -> None:
        self._group = group

    def Get_rank(self) -> int:  # noqa: N802
        return int(_dist().get_rank(self._group))

    def Get_size(self) -> int:  # noqa: N802
        return int(_dist().get_world_size(self._group))

    def allgather(self, data: Any) -> list[Any]:
        gathered: list[Any] = [None] * self.Get_size()
        _dist().all_gather_object(gathered, data, group=self._group)
        return gathered

    def bcast(self, data: Any, root: int = 0) -> Any:
        held = [data]
        source = _dist().get_global_rank(self._group or _dist().group.WORLD, root)
        _dist().broadcast_object_list(held, src=source, group=self._group)
        return held[0]

    def barrier(self) -> None:
        _dist().barrier(group=self._group)

    def Split(self, color: int, key: int) -> TorchDistBackend:  # noqa: N802
        """Make a group of the ranks of each colour, in the order of their keys."""
        every = self.allgather((color, key, _dist().get_rank()))
        own: Any = None
        for one in sorted({entry[0] for entry in every}):
            ranks = [rank for entry, _, rank in sorted(every) if entry == one]
            group = _dist().new_group(ranks)
            own = group if one == color else own
        return TorchDistBackend(own)


def _dist() -> Any:
    import torch.distributed

    return torch.distributed


def _given(size: int, otherwise: int) -> int:
    return otherwise if size == -1 else size
