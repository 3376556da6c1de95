"""Packages whose public names are imported when they are first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of `package`: name -> the module of it, or of fictl by its
    full name, that defines the name.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        full = home if home.startswith("fictl.") else f"{package}.{home}"
        value = getattr(import_module(full), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
