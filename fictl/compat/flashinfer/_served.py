"""Serves FlashInfer's names from fictl, each in the module where FlashInfer has it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from fictl.compat.flashinfer._names import TOP, recorded, theirs


class Served(NamedTuple):
    """Functions for a module: `__getattr__, __dir__ = served(__name__)`."""

    getattr: Callable[[str], Any]
    dir: Callable[[], list[str]]


def served(module: str, *packages: str) -> Served:
    """Serve the recorded names found in `packages`, in order, and fictl's ops."""
    return Served(
        lambda name: _find(module, name, packages),
        lambda: sorted({*_places(module, packages), *dict(_submodules(module))}),
    )


def _find(module: str, name: str, packages: tuple[str, ...]) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    # Why asked first: a module is found without looking for ops.
    known = name in recorded()[theirs(module)]
    if known and name in _places(module, packages):
        return _value(module, name, _places(module, packages)[name])
    below = dict(_submodules(module))
    if name in below:
        return import_module(below[name])
    from fictl.compat.flashinfer._missing import missing

    message = missing(module, name, [*_places(module, packages), *below])
    if _is_from_import(sys._getframe(2)):  # noqa: SLF001 that of whoever asks
        raise ImportError(message, name=module)
    raise AttributeError(message, name=name, obj=sys.modules[module])


def _value(module: str, name: str, place: str) -> Any:
    home = import_module(place)
    value = getattr(home, name)
    if name in vars(home):  # What is computed, as a folder of the settings, is asked each time.
        setattr(sys.modules[module], name, value)
    return value


def _is_from_import(frame: Any) -> bool:
    """Tell whether `from module import name` asks: it discards the message of an AttributeError,
    and asks a module that has a `__path__` here first.
    """
    return bool(frame.f_code.co_name == "_handle_fromlist")


@cache
def _places(module: str, packages: tuple[str, ...]) -> Mapping[str, str]:
    """Names with the module of fictl that has them."""
    offered = dict(_ops())
    for package in reversed(packages):
        offered |= dict.fromkeys(import_module(package).__all__, package)
    names = recorded()[theirs(module)]
    return {name: place for name, place in offered.items() if name in names}


@cache
def _ops() -> Mapping[str, str]:
    """Public functions of the shipped ops, and names that their families share."""
    from fictl.project import Project
    from fictl.project.discover import functions
    from fictl.project.shared import shared

    project = Project.shipped()
    places = {name: place for _, place, name in shared(project)}
    for folder, declaration in functions(project):
        places[declaration.name] = f"{folder.package}.op"
    return places


def _submodules(module: str) -> Iterator[tuple[str, str]]:
    """Our modules below `module` that FlashInfer has too."""
    prefix = "" if theirs(module) == TOP else f"{theirs(module)}."
    for place in getattr(sys.modules[module], "__path__", ()):
        for path in Path(place).iterdir():
            if path.stem[0] != "_" and f"{prefix}{path.stem}" in recorded():
                yield path.stem, f"{module}.{path.stem}"
