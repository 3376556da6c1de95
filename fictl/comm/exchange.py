"""Exchange of small values among the ranks of a group, from the host.

Values are JSON: those of other processes are data, never code.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from fictl import settings
from fictl.errors import FictlError, SetupError, UsageError

_POLL_SECONDS = 0.001
# Exchanges of this process so far, by group: all ranks count alike.
_made: Counter[str] = Counter()


class RankMissing(FictlError):
    """A rank that did not come in time; `ranks` are those that are missing."""

    code = "rank-failed"

    def __init__(self, message: str, hint: str, ranks: Sequence[int]) -> None:
        super().__init__(message, hint)
        self.ranks = tuple(ranks)


class Exchange(Protocol):
    """A way to give a value to all ranks, and to take theirs."""

    @property
    def name(self) -> str: ...

    def offer(self, value: Any) -> Callable[[], Sequence[Any]]: ...

    def store(self) -> tuple[Any, ...]: ...


class LocalExchange:
    """Ranks of one process: `offers` has what each of them gave, by the number of the exchange."""

    def __init__(self, rank: int, size: int, name: str, offers: dict[int, dict[int, Any]]) -> None:
        self.name = f"{size} ranks of this process, {name}"
        self._rank, self._size, self._offers = rank, size, offers
        self._count = 0

    def offer(self, value: Any) -> Callable[[], Sequence[Any]]:
        given = self._offers.setdefault(self._count, {})
        number = self._count
        self._count += 1
        given[self._rank] = value

        def take() -> Sequence[Any]:
            missing = [rank for rank in range(self._size) if rank not in given]
            if missing:
                raise RankMissing(
                    f"{_ranks(missing)} did not come to exchange #{number} of {self.name}",
                    "the ranks of one process make their parts before the first kernel runs",
                    missing,
                )
            return [given[rank] for rank in range(self._size)]

        return take

    def store(self) -> tuple[Any, ...]:
        return ()


class MpiExchange:
    """A communicator with the names of mpi4py: it waits by itself."""

    def __init__(self, communicator: Any) -> None:
        self._communicator = communicator
        self.name = f"{communicator.Get_size()} ranks of MPI"

    def offer(self, value: Any) -> Callable[[], Sequence[Any]]:
        texts = self._communicator.allgather(json.dumps(value))
        values = [json.loads(str(text)) for text in texts]
        return lambda: values

    def store(self) -> tuple[Any, ...]:
        return ()


class StoreExchange:
    """A process group of torch.distributed: values go through the store that its ranks met at.

    ranks: some of the default group's, in place of a group.
    """

    def __init__(self, group: Any = None, ranks: Sequence[int] = ()) -> None:
        import torch.distributed as dist

        if not (dist.is_available() and dist.is_initialized()):
            raise UsageError(
                "torch.distributed is not initialised",
                "torch.distributed.init_process_group() first; in one process: Group.local(size)",
            )
        self.members = [*ranks]
        if not ranks and (group is None or dist.get_rank(group) >= 0):
            self.members = dist.get_process_group_ranks(group or dist.group.WORLD)
        if dist.get_rank() not in self.members:
            raise UsageError(
                f"this process, rank {dist.get_rank()}, is not in the group",
                "only its members call its ops",
            )
        self.rank = self.members.index(dist.get_rank())
        self.name = f"ranks {','.join(map(str, self.members))}"
        self._key = f"fictl/comm/{_group_name(group)}/{self.name}"
        self._store = _store()

    def offer(self, value: Any) -> Callable[[], Sequence[Any]]:
        number = _made[self._key]
        _made[self._key] += 1
        keys = [f"{self._key}/{number}/{rank}" for rank in range(len(self.members))]
        self._store.set(keys[self.rank], json.dumps(value))

        def take() -> Sequence[Any]:
            self._wait(keys, number)
            return [json.loads(self._store.get(key)) for key in keys]

        return take

    def store(self) -> tuple[Any, ...]:
        return self._store, f"{self._key}/{_made[self._key]}"

    def _wait(self, keys: Sequence[str], number: int) -> None:
        seconds = settings.RANK_TIMEOUT.get()
        deadline = time.monotonic() + seconds
        while not self._store.check(list(keys)):
            if time.monotonic() > deadline:
                missing = [rank for rank, key in enumerate(keys) if not self._store.check([key])]
                world = [self.members[rank] for rank in missing]
                raise RankMissing(
                    f"{_ranks(world)} did not come to exchange #{number} of {self.name} within "
                    f"{seconds:g} s",
                    "all ranks of a group make the same workspaces, in the same order; "
                    f"{settings.RANK_TIMEOUT.name} sets the time",
                    world,
                )
            time.sleep(_POLL_SECONDS)


def _group_name(group: Any) -> str:
    from torch.distributed import distributed_c10d as c10d

    whole: Any = c10d.group.WORLD
    return str((group or whole).group_name)


def _store() -> Any:
    """Return the store of the default group, with which those of its subgroups share a server."""
    from torch.distributed import distributed_c10d as c10d

    try:
        return c10d._get_default_store()  # noqa: SLF001  # torch has no public way
    except (AttributeError, ValueError) as error:
        raise SetupError(f"torch.distributed has no store: {error}") from None


def _ranks(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))}"
