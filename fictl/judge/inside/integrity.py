"""Detection of tampering: a solution must not change the clocks, torch, or the judge's own code."""

from __future__ import annotations

import _thread
import builtins
import gc
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
    """A snapshot from before a solution is loaded, compared with the state after it has run.

    A solution that knows this code can evade it, since it runs in the same process. The judge's
    measurements from outside decide in the end.
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
        """Names of functions, modes and hooks that were changed."""
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
        """Names of modules that were replaced."""
        return [n for n, module in self._modules.items() if sys.modules.get(n) is not module]

    def _is_of_torch(self, value: Any) -> bool:
        """Tell whether torch itself replaced a function: modules it imports late do so."""
        code = getattr(value, "__code__", None)
        return code is not None and code.co_filename.startswith(self._torch)

    def threads(self) -> list[str]:
        """Names of threads still running after a grace period, in which each of them got a CPU."""
        looked, had = Scheduled.now(), 0.0
        while (left := self._left()) and had < _PATIENCE:
            self._sleep(_STEP)
            before, looked = looked, Scheduled.now()
            had += _STEP if looked.had_its_chance(before) else 0.0
        return left

    def _left(self) -> list[str]:
        """Names of threads started since the snapshot; threads that stay in C are only counted."""
        idents = sorted(set(self._frames()) - self._threads)
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        threads = [names.get(ident, _NAMELESS) for ident in idents]
        return threads or [_NAMELESS] * (self._count() - self._counted)


@cache
def taken() -> Integrity:
    """Take the snapshot once, before any solution is loaded; forks inherit it."""
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
    """Attributes of a class with inherited ones, which an attribute of the class would hide."""
    attributes: dict[str, Any] = {}
    for one in reversed(kind.__mro__):
        attributes.update(vars(one))
    for name, value in attributes.items():
        yield (kind.__name__, name), value


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
    """Hooks that run code between calls, outside of the measured time."""
    handlers = {f"the handler of {number.name}": number for number in signal.Signals}
    return {
        "gc.callbacks": [*gc.callbacks],
        "sys.settrace": sys.gettrace(),
        "sys.setprofile": sys.getprofile(),
        "signal.setitimer": signal.getitimer(signal.ITIMER_REAL),
        **{name: signal.getsignal(number) for name, number in handlers.items()},
    }


def _modes() -> list[str]:
    """Modes that a solution left enabled: they intercept every call of torch."""
    from torch.overrides import _get_current_function_mode_stack
    from torch.utils._device import DeviceContext
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    functions: Any = _get_current_function_mode_stack
    stack = [*functions(), *_get_current_dispatch_mode_stack()]
    return [f"the mode {type(mode).__name__}" for mode in stack if type(mode) is not DeviceContext]
