"""What a solution must leave as it was: the clocks, torch, and the code that judges it."""

from __future__ import annotations

import _thread
import builtins
import gc
import inspect
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from fictl.judge.process.scheduled import Scheduled

_CLOCKS = (
    "perf_counter",
    "perf_counter_ns",
    "monotonic",
    "monotonic_ns",
    "time",
    "time_ns",
    "sleep",
)
_OURS = (
    "fictl.judge",
    "fictl.timing",
    "fictl.runnable.runnable",
    "fictl.runnable.arguments",
    "fictl.runnable.results",
)
_MODULES = ("torch", "time", "os", "json", "gc", "builtins", "threading", "safetensors", *_OURS)
_PATIENCE, _STEP = 0.3, 0.01
_NAMELESS = "one without a name"
# torch itself changes it with the default dtype.
_CHANGES = (("torch", "Storage"),)

Place = tuple[str, str]


class Integrity:
    """Taken before a solution is there, and looked at after it has run.

    A solution that knows this code can get around it, for it runs in the same process: what counts
    in the end is what the judge sees from outside.
    """

    def __init__(self) -> None:
        self._sleep = time.sleep
        self._frames = sys._current_frames  # noqa: SLF001  # sees threads that threading does not
        self._threads = set(self._frames())
        self._count = _thread._count  # noqa: SLF001  # there is no public one
        self._counted = self._count()
        self._modules = {name: module for name, module in sys.modules.items() if _is_watched(name)}
        self._known = dict(_known())
        self._hooks = _hooks()
        self._torch = str(Path(self._modules["torch"].__file__ or "").parent)

    def changed(self) -> list[str]:
        """What is not what it was, by name."""
        if replaced := self.replaced():
            return replaced
        now = dict(_known())
        other = [
            f"{where}.{name}"
            for (where, name), value in self._known.items()
            if now.get((where, name)) is not value and not self._is_of_torch(now.get((where, name)))
        ]
        hooks = [name for name, hook in _hooks().items() if hook != self._hooks[name]]
        return [*other, *_modes(), *hooks]

    def replaced(self) -> list[str]:
        """Modules that are others now."""
        return [n for n, module in self._modules.items() if sys.modules.get(n) is not module]

    def _is_of_torch(self, value: Any) -> bool:
        """Its parts that are imported late wrap functions of others, manual_seed among them."""
        code = getattr(value, "__code__", None)
        return code is not None and code.co_filename.startswith(self._torch)

    def threads(self) -> list[str]:
        """Those that run on, when they have had a moment to end: one in which nobody of this
        process was waiting for a CPU.
        """
        looked, had = Scheduled.now(), 0.0
        while (left := self._left()) and had < _PATIENCE:
            self._sleep(_STEP)
            before, looked = looked, Scheduled.now()
            had += _STEP if looked.had_its_chance(before) else 0.0
        return left

    def _left(self) -> list[str]:
        """Those that are in C code all of the time are only counted."""
        idents = sorted(set(self._frames()) - self._threads)
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        found = [names.get(ident, _NAMELESS) for ident in idents]
        return found or [_NAMELESS] * (self._count() - self._counted)


@cache
def taken() -> Integrity:
    """Once, where no solution has been; a fork has it from there."""
    return Integrity()


def _known() -> Iterator[tuple[Place, Any]]:
    import torch

    yield from ((("time", name), getattr(time, name, None)) for name in _CLOCKS)
    for module in (builtins, torch, torch.cuda, torch.random, gc, json):
        yield from _functions(module)
    yield from ((("os", name), getattr(os, name, None)) for name in ("fork", "kill", "_exit"))
    for name, module in [*sys.modules.items()]:
        if name.startswith(_OURS) and isinstance(module, ModuleType):
            yield from _functions(module)
            yield from _methods(module)
    for kind in (torch.Tensor, torch.cuda.Event, torch.cuda.Stream):
        yield from _attributes(kind)


def _attributes(kind: type) -> Iterator[tuple[Place, Any]]:
    """Also inherited ones: what is set on a class hides them."""
    for name in dir(kind):
        yield (kind.__name__, name), inspect.getattr_static(kind, name, None)


def _functions(module: ModuleType) -> Iterator[tuple[Place, Any]]:
    for name, value in [*vars(module).items()]:
        if callable(value) and (module.__name__, name) not in _CHANGES:
            yield (module.__name__, name), value


def _methods(module: ModuleType) -> Iterator[tuple[Place, Any]]:
    for kind in [*vars(module).values()]:
        if isinstance(kind, type) and kind.__module__ == module.__name__:
            for name, value in [*vars(kind).items()]:
                if callable(value) or isinstance(value, property):
                    yield (f"{module.__name__}.{kind.__name__}", name), value


def _is_watched(name: str) -> bool:
    return name in _MODULES or name.startswith(_OURS)


def _hooks() -> dict[str, Any]:
    """By which code runs between calls, where no time is taken."""
    handlers = {f"the handler of {number.name}": number for number in signal.Signals}
    return {
        "gc.callbacks": [*gc.callbacks],
        "sys.settrace": sys.gettrace(),
        "sys.setprofile": sys.getprofile(),
        "signal.setitimer": signal.getitimer(signal.ITIMER_REAL),
        **{name: signal.getsignal(number) for name, number in handlers.items()},
    }


def _modes() -> list[str]:
    """Left on, they stand between torch and all who call it; a default device is one of them."""
    from torch.overrides import _get_current_function_mode_stack
    from torch.utils._device import DeviceContext
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    functions: Any = _get_current_function_mode_stack
    stack = [*functions(), *_get_current_dispatch_mode_stack()]
    return [f"the mode {type(each).__name__}" for each in stack if type(each) is not DeviceContext]
