"""Tuning: enabled inside `with fictl.autotune()`, for its own thread or task."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias
from weakref import WeakSet


class Forgetful(Protocol):
    """The interface of Tactics that tuning uses."""

    def forget(self) -> None:
        """Forget the choices for untuned calls."""

    def forget_all(self) -> None:
        """Forget what was tuned, too."""


# Takes an Untuned call; returns the tactic for such calls from now on.
Tuner: TypeAlias = Callable[[Any], Any]

# Guards all cached choices: no thread may cache an untuned call while another tunes.
lock = threading.Lock()
_declared: WeakSet[Forgetful] = WeakSet()
_running: list[Tuner] = []
_tuner: ContextVar[Tuner | None] = ContextVar("fictl.tuner", default=None)


def declare(tactics: Forgetful) -> None:
    """Register tactics, whose untuned choices are forgotten when tuning begins."""
    _declared.add(tactics)


def is_going_on() -> bool:
    """Return whether any thread of this process tunes."""
    return bool(_running)


def clear() -> None:
    """Forget all choices of this process, so that the next session measures again."""
    with lock:
        for tactics in _declared:
            tactics.forget_all()


def tuner() -> Tuner | None:
    """Return the tuner of the current thread or task."""
    return _tuner.get()


@contextmanager
def tuning(by: Tuner) -> Iterator[None]:
    """Use the tuner `by` for calls inside; forget earlier choices for untuned calls."""
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
    """Turn tuning off while a candidate is tried, so that calls inside it are not tuned."""
    before = _tuner.set(None)
    try:
        yield
    finally:
        _tuner.reset(before)
