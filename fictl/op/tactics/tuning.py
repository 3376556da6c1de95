"""Who tunes: the code inside `with fictl.autotune()`, on its own thread or task and no other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakSet

if TYPE_CHECKING:
    from fictl.op.tactics.tactics import Tactics


@dataclass(frozen=True)
class Untuned:
    """A call that is to be tuned: `key` in memory, `text` in a file, the default first."""

    tactics: Tactics
    key: Any
    text: str
    arguments: dict[str, Any]
    candidates: tuple[Any, ...]


# Answers with the tactic that such a call gets, now and from now on.
Tuner: TypeAlias = Callable[[Untuned], Any]

# Around all that decides what is remembered: nobody remembers an untuned call while others tune.
lock = threading.Lock()
_declared: WeakSet[Tactics] = WeakSet()
_running: list[Tuner] = []
_tuner: ContextVar[Tuner | None] = ContextVar("fictl.tuner", default=None)


def declare(tactics: Tactics) -> None:
    _declared.add(tactics)


def is_going_on() -> bool:
    """Anywhere in this process."""
    return bool(_running)


def tuner() -> Tuner | None:
    """That of the call at hand."""
    return _tuner.get()


@contextmanager
def tuning(by: Tuner) -> Iterator[None]:
    """Calls inside ask `by`; what they did before they did untuned."""
    with lock:
        _running.append(by)
        for tactics in _declared:
            tactics.forget()
    before = _tuner.set(by)
    try:
        yield
    finally:
        _tuner.reset(before)
        with lock:
            _running.remove(by)


@contextmanager
def paused() -> Iterator[None]:
    """What is called while a candidate is tried is not tuned itself."""
    before = _tuner.set(None)
    try:
        yield
    finally:
        _tuner.reset(before)
