"""Suitable: the backends for the current call, read in the body of the function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any


class Suitable(Sequence[str]):
    """Backends of the current call of this thread or task. Empty outside a call."""

    def __init__(self, op: str, is_compiling: Callable[[], bool]) -> None:
        self._op = op
        self._offered: ContextVar[tuple[str, ...]] = ContextVar(f"{op}.suitable_auto_backends")
        # Dynamo does not follow ContextVar.set; it traces one call on one thread.
        self._traced: tuple[str, ...] = ()
        self._is_compiling = is_compiling

    def offer(self, backends: tuple[str, ...]) -> Any:
        """Set the backends until restore() is called with what this returns."""
        if self._is_compiling():
            before, self._traced = self._traced, backends
            return before
        return self._offered.set(backends)

    def restore(self, before: Any) -> None:
        if self._is_compiling():
            self._traced = before
        else:
            self._offered.reset(before)

    def _found(self) -> tuple[str, ...]:
        return self._traced if self._is_compiling() else self._offered.get(())

    def __getitem__(self, index: Any) -> Any:
        backends = self._found()
        if not backends:
            raise IndexError(f"no call of {self._op} with backend='auto' is under way here")
        return backends[index]

    def __len__(self) -> int:
        return len(self._found())

    def __repr__(self) -> str:
        return repr(list(self._found()))
