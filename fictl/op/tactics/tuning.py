"""Tuning: on for the code inside `with fictl.autotune()`, on its own thread or task."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias
from weakref import WeakSet


class Forgetful(Protocol):
    """Tactics, as far as tuning knows them."""

    def forget(self) -> None:
        """Forget what calls got untuned."""


# Takes an Untuned call, and returns the tactic that such calls get from now on.
Tuner: TypeAlias = Callable[[Any], Any]

# Around all that decides what is remembered: nobody remembers an untuned call while others tune.
lock = threading.Lock()
_declared: WeakSet[Forgetful] = WeakSet()
_running: list[Tuner] = []
_tuner: ContextVar[Tuner | None] = ContextVar("fictl.tuner", default=None)


def declare(tactics: Forgetful) -> None:
    """Remember tactics, to have them forget when tuning begins."""
    _declared.add(tactics)


def is_going_on() -> bool:
    """Tell whether any thread of this process tunes."""
    return bool(_running)


def tuner() -> Tuner | None:
    """Return the tuner of the current thread or task."""
    return _tuner.get()


@contextmanager
def tuning(by: Tuner) -> Iterator[None]:
    """Ask `by` for the tactics of calls inside; forget those that calls got untuned."""
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
    """Turn tuning off while a candidate is tried: what it calls is not tuned itself."""
    before = _tuner.set(None)
    try:
        yield
    finally:
        _tuner.reset(before)
