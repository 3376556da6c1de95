"""FlashInfer's names, found among fictl's: ops by their folders, the rest in the parts that have it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

from fictl.project import Project
from fictl.project.discover import functions
from fictl.project.shared import shared


class Served(NamedTuple):
    """What a module makes its own: `__getattr__, __dir__ = family(__name__)`."""

    getattr: Callable[[str], Any]
    dir: Callable[[], list[str]]


def everything(module: str) -> Served:
    """Every op, whatever its family."""
    return _served(module, lambda: dict(_names("")))


def family(module: str) -> Served:
    """The ops of the family or module that is called so, and those that are named after it."""
    return _served(module, lambda: dict(_names(module.rpartition(".")[2])))


def parts(module: str, *packages: str) -> Served:
    """What packages of fictl offer under FlashInfer's names; the first that has one gives it."""

    def places() -> dict[str, str]:
        return {n: each for each in reversed(packages) for n in import_module(each).__all__}

    return _served(module, places)


def _names(family: str) -> Iterator[tuple[str, str]]:
    """(name, the module that has it); of all families where none is named."""
    project = Project.shipped()
    for of, place, name in shared(project):
        if family in ("", of):
            yield name, place
    for folder, declaration in functions(project):
        own = family in (folder.family, folder.module)
        if own or family in declaration.name.replace("_", "").lower():
            yield declaration.name, f"{folder.package}.op"


def _served(module: str, places: Callable[[], Mapping[str, str]]) -> Served:
    def resolve(name: str) -> Any:
        found = {} if name.startswith("__") else places()
        if name not in found:
            close = get_close_matches(name, found, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise AttributeError(f"module {module!r} has no {name!r}{hint}", name=name, obj=None)
        value = getattr(import_module(found[name]), name)
        setattr(sys.modules[module], name, value)  # The next access is a plain attribute.
        return value

    return Served(resolve, lambda: sorted(places()))
