"""The interface that engines' communicators declare; fictl calls none of them."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

__all__ = ["CommBackend"]


@runtime_checkable
class CommBackend(Protocol):
    """Collectives of a group of processes, by the names of mpi4py."""

    def Get_rank(self) -> int: ...  # noqa: N802
    def Get_size(self) -> int: ...  # noqa: N802
    def allgather(self, data: Any) -> tuple[Any, ...]: ...
    def bcast(self, data: Any, root: int) -> Any: ...
    def barrier(self) -> None: ...
    def Split(self, color: int, key: int) -> CommBackend: ...  # noqa: N802
