"""Run a module's file again, and update functions and classes imported from it before."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from fictl.project.python_source import running
from fictl.user_file import read_bytes

_NOT_RENEWED = ("__dict__", "__weakref__")


def run_again(module: ModuleType) -> None:
    """Run the file in the same namespace, which stays unchanged if the file raises."""
    path = Path(str(module.__file__))
    names = vars(module)
    before = dict(names)
    try:
        with running(path):
            # Why not importlib.reload: its bytecode cache misses a second edit within one second.
            exec(compile(read_bytes(path), str(path), "exec", dont_inherit=True), names)  # noqa: S102
    except BaseException:
        names.clear()
        names.update(before)
        raise
    for name, value in list(names.items()):
        if getattr(value, "__module__", None) == module.__name__:
            names[name] = renewed(before.get(name), value)


def renewed(old: Any, new: Any) -> Any:
    """Update `old` to be like `new` and return it; return `new` if that is impossible."""
    if isinstance(old, FunctionType) and isinstance(new, FunctionType):
        return _renewed_function(old, new)
    if type(old) is type and type(new) is type:
        return _renewed_class(old, new)
    return new


def _renewed_function(old: FunctionType, new: FunctionType) -> FunctionType:
    if old is new or old.__code__.co_freevars != new.__code__.co_freevars:
        return new
    for name, cell, fresh in zip(
        new.__code__.co_freevars, old.__closure__ or (), new.__closure__ or (), strict=True
    ):
        if name != "__class__":  # super() needs the old class, which is kept.
            with suppress(ValueError):  # The closure's cell is empty.
                cell.cell_contents = fresh.cell_contents
    old.__code__ = new.__code__
    old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
    old.__doc__, old.__annotations__ = new.__doc__, new.__annotations__
    old.__dict__.clear()
    old.__dict__.update(new.__dict__)
    return old


def _renewed_class(old: type, new: type) -> type:
    """Update a class in place, so that its objects have the new methods."""
    if old is new or old.__bases__ != new.__bases__ or vars(new).get("__slots__") is not None:
        return new
    for name in vars(old).keys() - vars(new).keys():
        delattr(old, name)
    for name, value in list(vars(new).items()):
        if name not in _NOT_RENEWED:
            setattr(old, name, renewed(vars(old).get(name), value))
    return old
