"""Imports a solution's Python as a package, from its text and never from files on disk."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from pathlib import Path, PurePosixPath
from threading import RLock
from types import CodeType, ModuleType
from typing import Any

# A solution's file of such a name holds a kernel or a wrapper; it does not replace the library.
_LIBRARIES = frozenset(
    {"torch", "triton", "tilelang", "numpy", "cutlass", "cuda", "tvm_ffi", "flashinfer"}
)
_lock = RLock()
_open: dict[str, Package] = {}


@dataclass
class Package:
    """Modules of one solution; `users` counts the runnables of this process that hold it."""

    name: str
    folder: Path
    files: Mapping[str, str]
    users: int = 0
    modules: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.modules[self.name] = None
        for path in self.files:
            if path.endswith(".py"):
                self._add(PurePosixPath(path))

    def module_of(self, path: str) -> str:
        """Return the module name of a source file."""
        parts = [part.replace(".", "_") for part in PurePosixPath(path).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        return ".".join([self.name, *parts])

    def is_package(self, module: str) -> bool:
        path = self.modules[module]
        return path is None or PurePosixPath(path).name == "__init__.py"

    @cached_property
    def siblings(self) -> frozenset[str]:
        """Modules that its files may import from each other, by the first part of the name.

        As in Python, a folder without __init__.py comes after installed packages.
        """
        skip = len(self.name) + 1
        names = {module[skip:].partition(".")[0] for module in self.modules} - {"", *_LIBRARIES}
        folders = {name for name in names if self.modules[f"{self.name}.{name}"] is None}
        return frozenset(names - {name for name in folders if _is_installed(name)})

    def load(self, path: str) -> ModuleType:
        return import_module(self.module_of(path))

    def close(self) -> None:
        """Release it once; the last release removes its modules."""
        with _lock:
            self.users -= 1
            if self.users > 0 or _open.get(self.name) is not self:
                return
            del _open[self.name]
            for module in [*sys.modules]:
                if module == self.name or module.startswith(f"{self.name}."):
                    del sys.modules[module]
            if not _open:
                with suppress(ValueError):
                    sys.meta_path.remove(_FINDER)

    def _add(self, path: PurePosixPath) -> None:
        module = self.module_of(str(path))
        self.modules[module] = str(path)
        above = module.rpartition(".")[0]
        while above and above not in self.modules:
            self.modules[above] = None
            above = above.rpartition(".")[0]


def open_package(name: str, folder: Path, files: Mapping[str, str]) -> Package:
    """Return the package, importable until every user of it has closed it."""
    with _lock:
        if not _open and _FINDER not in sys.meta_path:
            # Why first: Python's file finder would import files from the folder.
            sys.meta_path.insert(0, _FINDER)
        package = _open.setdefault(name, Package(name, folder, dict(files)))
        package.users += 1
        return package


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package = _open.get(fullname.partition(".")[0])
        if package is None or fullname not in package.modules:
            return None
        loader = _Loader(package)
        spec = spec_from_loader(
            fullname,
            loader,
            origin=loader.get_filename(fullname),
            is_package=package.is_package(fullname),
        )
        if spec is not None and spec.submodule_search_locations is not None:
            below = fullname.split(".")[1:]
            spec.submodule_search_locations.append(str(package.folder.joinpath(*below)))
        if spec is not None:
            spec.has_location = package.modules[fullname] is not None
        return spec


_FINDER = _Finder()


class _Loader(InspectLoader):
    def __init__(self, package: Package) -> None:
        self._package = package

    def is_package(self, fullname: str) -> bool:
        return self._package.is_package(fullname)

    def get_filename(self, fullname: str) -> str:
        """Path of the text, for tracebacks and for Triton."""
        return str(self._package.folder / (self._package.modules[fullname] or ""))

    def get_source(self, fullname: str) -> str:
        path = self._package.modules[fullname]
        return "" if path is None else self._package.files[path]

    def get_code(self, fullname: str) -> CodeType:
        # Why dont_inherit: this file's own `from __future__` would hold for the solution, too.
        text, name = self.get_source(fullname), self.get_filename(fullname)
        return compile(text, name, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        siblings = self._package.siblings
        if len([*filter(None, self._package.modules.values())]) > 1:
            own = {**vars(builtins), "__import__": _importer(self._package.name, siblings)}
            vars(module)["__builtins__"] = own
        exec(self.get_code(module.__name__), vars(module))  # noqa: S102 what it is for


def _importer(package: str, siblings: frozenset[str]) -> Any:
    """Import function for which `import helper` finds the solution's helper.py first.

    A file does not find itself: colours.py may import a library called colours.
    """

    def import_(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        first = name.partition(".")[0]
        own = f"{package}.{first}"
        if level or first not in siblings or (globals or {}).get("__name__") == own:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        if fromlist:
            return builtins.__import__(f"{package}.{name}", globals, locals, fromlist, 0)
        import_module(f"{package}.{name}")
        return sys.modules[own]

    return import_


def _is_installed(name: str) -> bool:
    spec = find_spec(name) if name.isidentifier() else None
    return spec is not None and spec.origin is not None


def frames_within(folder: Path, error: BaseException) -> Iterator[tuple[str, int]]:
    """Files and lines of the solution that led to `error`, the outermost first."""
    step = error.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        if name.startswith(f"{folder}/"):
            yield name[len(str(folder)) + 1 :], step.tb_lineno
        step = step.tb_next
