"""`fictl.reload(op)`: load the current files of an op into the running process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from fictl.errors import UsageError
from fictl.jit.load import in_use, same_module
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.recipe import reached_by, recipe_of
from fictl.op.declared import declaration
from fictl.op.folder_specs import folder_specs
from fictl.op.notebook.renewal import run_again
from fictl.project import OpFolder, find

# Files that others import come first.
_ORDER = ("jit", "trace", "bench", "op")
_reloading = threading.RLock()


@dataclass(frozen=True)
class Reloaded:
    """Result of a reload. `changed`: the next call runs another module than the last call.

    `keys`: current keys of the op's modules that calls have loaded.
    """

    op: str
    changed: bool
    keys: tuple[str, ...]


def reload(op: str | Callable[..., Any]) -> Reloaded:
    """Run the Python files of an op again; the next call builds and loads its current sources.

    op: `fictl.ops.scale`, "scale" or "project/scale". Functions imported before are updated, too.
    Modules loaded before stay mapped, so that calls running in other threads finish with them.
    """
    folder = _named(op) if isinstance(op, str) else folder_of(declaration(op).module)
    return reload_folder(folder)


def reload_folder(folder: OpFolder) -> Reloaded:
    with _reloading:
        for module in python_of(folder):
            run_again(module)
        _repoint_facade(folder, folder.load("op"))
        _forget_graphs()
        return _outcome(folder)


def folder_of(module: str) -> OpFolder:
    """Return the folder of the op whose op.py was imported under this name."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        raise UsageError(
            f"{module} is not a file that can be read again", "run its definition again"
        )
    return OpFolder.of(file)


def python_of(folder: OpFolder) -> list[ModuleType]:
    """List the imported Python files of an op, and those shared by its family."""
    family = folder.package.rpartition(".")[0]
    modules = []
    for name, module in list(sys.modules.items()):
        package, _, last = name.rpartition(".")
        if getattr(module, "__file__", None) and (
            package == folder.package or (package == family and last.startswith("_"))
        ):
            place = _ORDER.index(last) if last in _ORDER else -1
            modules.append(((package != family, place, name), module))
    return [module for _, module in sorted(modules, key=lambda pair: pair[0])]


def watched_files(folder: OpFolder) -> set[Path]:
    """Return all files that affect a call of the op."""
    python = {Path(str(module.__file__)) for module in python_of(folder)}
    specs = folder_specs(folder)
    reached = {path for spec in specs for path in reached_by(spec, *spec.sources).files.values()}
    return python | reached | {path for spec in specs for path in spec.made_from}


def _specs_in_use(folder: OpFolder) -> list[tuple[ModuleSpec, str]]:
    """List the current spec of every module that calls have loaded, with the loaded key."""
    now: dict[Hashable, ModuleSpec] = {same_module(spec): spec for spec in folder_specs(folder)}
    return [(now.get(same_module(spec), spec), key) for spec, key in in_use(folder.path)]


def _outcome(folder: OpFolder) -> Reloaded:
    before = _specs_in_use(folder)
    keys = tuple(recipe_of(spec).key for spec, _ in before)
    return Reloaded(str(folder), keys != tuple(key for _, key in before), keys)


def _named(name: str) -> OpFolder:
    folders = find(name)
    if len(folders) > 1:
        modules = ", ".join(folder.module for folder in folders)
        raise UsageError(f"{name} is a family", f"name one of its ops: {modules}")
    return folders[0]


def _repoint_facade(folder: OpFolder, op: ModuleType) -> None:
    """Update the names of this op in `<package>.ops`; new names are looked up on access."""
    package = "fictl" if folder.project.is_shipped else folder.project.package
    kept = vars(sys.modules.get(f"{package}.ops", ModuleType("")))
    declared = {declaration.name for declaration in folder.declarations()}
    for name in [name for name, value in kept.items() if _comes_from(value, op)]:
        if name in declared:
            kept[name] = getattr(op, name)
        else:
            del kept[name]


def _forget_graphs() -> None:
    """Drop torch.compile's graphs, which hold the old functions, so that they are traced again."""
    if "torch._dynamo" in sys.modules:
        import torch

        torch.compiler.reset()


def _comes_from(value: object, module: ModuleType) -> bool:
    return getattr(value, "__module__", None) == module.__name__
