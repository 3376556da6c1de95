"""Groups: ranks that call the same communication ops in the same order."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

from fictl.comm.exchange import Exchange, LocalExchange, MpiExchange, StoreExchange
from fictl.errors import InvalidValue, UsageError

# Most ranks of a group: the GPUs of one host.
MOST_RANKS = 8


class Group:
    """The place of this rank among `size` ranks of one host.

    Group.of(torch_group) in a process for each rank; Group.local(size) where all ranks are in this
    process: on the emulated device, or on streams of one GPU.
    """

    def __init__(self, rank: int, size: int, exchange: Exchange, *, is_local: bool = False) -> None:
        if not 0 <= rank < size <= MOST_RANKS:
            raise InvalidValue(
                f"rank {rank} of a group of {size} ranks",
                f"a group has 1 to {MOST_RANKS} ranks of one host, counted from 0",
            )
        self.rank, self.size, self.is_local = rank, size, is_local
        self._exchange = exchange

    @classmethod
    def of(cls, group: Any = None) -> Group:
        """Return the group of a torch.distributed process group, or of an MPI communicator.

        group: None is torch's default group; a subgroup needs not hold rank 0 of that. Another
            object has mpi4py's Get_rank(), Get_size() and allgather().
        """
        if isinstance(group, Group):
            return group
        if hasattr(group, "allgather") and hasattr(group, "Get_rank"):
            return cls(group.Get_rank(), group.Get_size(), MpiExchange(group))
        exchange = StoreExchange(group)
        return cls(exchange.rank, len(exchange.members), exchange)

    @classmethod
    def among(cls, ranks: Sequence[int]) -> Group:
        """Return the group of these ranks of torch's default group, among them this one.

        No other rank has to come.
        """
        exchange = StoreExchange(None, ranks)
        return cls(exchange.rank, len(exchange.members), exchange)

    @classmethod
    def local(cls, size: int) -> list[Group]:
        """Return a group for each rank of this process. What is to be shared is complete when the
        last of them has made its part.
        """
        offers: dict[int, dict[int, Any]] = {}
        name = secrets.token_hex(4)
        return [
            cls(rank, size, LocalExchange(rank, size, name, offers), is_local=True)
            for rank in range(size)
        ]

    @property
    def name(self) -> str:
        """Name the group in messages; equal on all ranks."""
        return self._exchange.name

    def offer(self, value: Any) -> Callable[[], Sequence[Any]]:
        """Give a value (JSON, or any object in one process) to all ranks.

        Returns the function that waits for those of all, in the order of ranks.
        """
        return self._exchange.offer(value)

    def store(self) -> tuple[Any, ...]:
        """Return torch's store and a prefix of keys of its own; () for groups that have none."""
        return self._exchange.store()

    def barrier(self) -> None:
        """Wait for the other ranks; those of one process do not wait."""
        if not self.is_local:
            self.offer(None)()

    def agree(self, error: str = "") -> None:
        """Wait for all ranks; raise on each of them if one comes with an error."""
        errors = [*self.offer(error)()]
        if len({*errors}) > 1:
            errors = [f"rank {rank}: {text}" for rank, text in enumerate(errors) if text]
        if any(errors):
            raise UsageError("; ".join(dict.fromkeys(errors)))

    def __str__(self) -> str:
        return f"rank {self.rank} of {self.size} ({self.name})"
