"""A module whose attributes are a project's public functions, imported at first access.

It also has the other names that families share; `dir` lists only the functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from fictl.project.declaration import read_declarations
from fictl.project.op_files import op_file_of, op_files
from fictl.project.project import Project
from fictl.project.python_source import running
from fictl.project.shared import shared
from fictl.project.trusted import require_trusted


@dataclass(frozen=True)
class Facade:
    """Implementation of the module: `resolve` is its `__getattr__`, `names` its `__dir__`."""

    project: Callable[[], Project]
    namespace: dict[str, Any]

    def resolve(self, name: str) -> Any:
        """Return the function, and store it in the module for faster access later."""
        module = None if name.startswith("_") else self._find(name)
        if module is None:
            raise AttributeError(self._miss(name), name=name, obj=None)
        value = self.namespace[name] = getattr(module, name)
        return value

    def _find(self, name: str) -> ModuleType | None:
        """Import and return the module that defines the name, or None."""
        project = self.project()
        path = op_file_of(name, project)
        if path is None:
            places = {shared_name: place for _, place, shared_name in shared(project)}
            return import_module(places[name]) if name in places else None
        require_trusted(project)
        with running(path):
            return import_module(".".join([project.package, *path.parts[-3:-1], "op"]))

    def names(self) -> list[str]:
        paths = op_files(self.project())
        return sorted(declared.name for path in paths for declared in read_declarations(path))

    def _miss(self, name: str) -> str:
        message = f"module {self.namespace['__name__']!r} has no op {name!r}"
        if name.startswith("_"):
            return message
        from difflib import get_close_matches

        close = get_close_matches(name, self.names(), n=1)
        return f"{message}; did you mean {close[0]!r}?" if close else message
