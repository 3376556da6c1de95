"""Modules that an engine imports and does not need here: compiled ones, and other libraries."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, ClassVar


class Anything:
    """An object that is called, subscripted and asked for attributes without an effect."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return args[0] if len(args) == 1 and callable(args[0]) else Anything()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (object,)

    def __getitem__(self, key: Any) -> Any:
        return Anything()

    def __or__(self, other: Any) -> Any:
        return Anything()

    __ror__ = __or__


class _Module(ModuleType):
    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()


class StandIns(MetaPathFinder, Loader):
    """Finds stand-ins for these modules and all below them, where nothing else is installed."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if any(f"{name}.".startswith(f"{known}.") for known in self._names):
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None: ...


def stand_in(names: Sequence[str]) -> None:
    sys.meta_path.append(StandIns(*names))
