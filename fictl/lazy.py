"""Packages whose public names are imported at their first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of `package`.

    homes: maps a name to the module that defines it: a module of the package, or of fictl by its
        full name.
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
