"""Serves FlashInfer's names from fictl, each in the module where FlashInfer has it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from opcode import opmap
from pathlib import Path
from typing import Any, NamedTuple

from fictl.compat.flashinfer._absent import tell_of_absent_modules
from fictl.compat.flashinfer._names import TOP, below, recorded, theirs

_IMPORT_FROM = opmap["IMPORT_FROM"]


class Served(NamedTuple):
    """Functions for a module: `__getattr__, __dir__ = served(__name__)`."""

    getattr: Callable[[str], Any]
    dir: Callable[[], list[str]]


def served(module: str, *packages: str) -> Served:
    """Serve the recorded names found in `packages`, in order, and fictl's ops."""
    tell_of_absent_modules()
    return Served(
        lambda name: _find(module, name, packages),
        lambda: sorted({*_places(module, packages), *dict(_submodules(module))}),
    )


def _find(module: str, name: str, packages: tuple[str, ...]) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    # Why asked first: a module is found without looking for ops.
    known = name in recorded()[theirs(module)]
    if known and name in _places(module, packages):
        return _value(module, name, _places(module, packages)[name])
    modules = dict(_submodules(module))
    if name in modules:
        return import_module(modules[name])
    return _not_served(module, name, [*_places(module, packages), *modules], sys._getframe(2))  # noqa: SLF001


def _not_served(module: str, name: str, here: list[str], asker: Any) -> Any:
    """Raise in words. An import that an engine cannot do without gets what refuses its call."""
    from fictl.compat.flashinfer._engines import needed
    from fictl.compat.flashinfer._missing import missing
    from fictl.compat.flashinfer._refused import stand_in

    is_import = _is_import(asker, name)
    if is_import and below(theirs(module), name) in needed():
        return stand_in(module, name)
    message = missing(module, name, here)
    if is_import:
        raise ImportError(message, name=module)
    raise AttributeError(message, name=name, obj=sys.modules[module])


def _value(module: str, name: str, place: str) -> Any:
    from fictl.compat.flashinfer._record import recorded_value

    home = import_module(place)
    value = getattr(home, name)
    value = recorded_value(module, name, place, value)
    if name in vars(home):  # What is computed, as a folder of the settings, is asked each time.
        setattr(sys.modules[module], name, value)
    return value


def _is_import(frame: Any, name: str) -> bool:
    """Tell whether `from module import name` asks, not hasattr or getattr: to those nothing is here.

    The statement discards the message of an AttributeError, and asks a module that has a
    `__path__` from _handle_fromlist first: an error there keeps it from our private modules.
    """
    code = frame.f_code
    if code.co_name == "_handle_fromlist":
        return not name.startswith("_")
    return bool(code.co_code[frame.f_lasti] == _IMPORT_FROM)


@cache
def _places(module: str, packages: tuple[str, ...]) -> Mapping[str, str]:
    """Names with the module of fictl that has them."""
    offered = dict(_ops())
    for package in reversed(packages):
        offered |= dict.fromkeys(_offered(package), package)
    names = recorded()[theirs(module)]
    return {name: place for name, place in offered.items() if name in names}


def _offered(package: str) -> list[str]:
    """Return what `__all__` of a package lists, read as text: an import would bring torch."""
    origin = getattr(find_spec(package), "origin", None)
    for node in ast.parse(Path(origin or "").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


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
