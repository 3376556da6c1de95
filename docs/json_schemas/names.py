"""Names of a module as its code means them, also those that it imports late or for types alone."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

MISSING = object()


@cache
def tree_of(module: ModuleType) -> ast.Module:
    return ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))


@cache
def _imports(module: ModuleType) -> dict[str, tuple[str, str]]:
    found = {}
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = (node.module, alias.name)
    return found


def look_up(module: ModuleType, name: str) -> Any:
    """Return the object of a name in a module; MISSING if there is none."""
    if hasattr(module, name):
        return getattr(module, name)
    if name in _imports(module):
        home, own = _imports(module)[name]
        try:
            imported = import_module(home)
            return (
                getattr(imported, own) if hasattr(imported, own) else import_module(f"{home}.{own}")
            )
        except (ImportError, AttributeError):
            return MISSING
    return getattr(builtins, name, MISSING)


@cache
def _functions(module: ModuleType) -> dict[int, ast.FunctionDef]:
    return {
        min([node.lineno, *(one.lineno for one in node.decorator_list)]): node
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.FunctionDef)
    }


def definition(function: Any) -> tuple[ModuleType, ast.FunctionDef] | None:
    """Return the module and the code of a function; None if it is no function of ours."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    code, name = getattr(function, "__code__", None), getattr(function, "__module__", "") or ""
    module = sys.modules.get(name)
    if code is None or module is None or not name.startswith("fictl"):
        return None
    node = _functions(module).get(code.co_firstlineno)
    return (module, node) if node is not None else None


class _Names(Mapping[str, Any]):
    """Names of a module for eval; one that is not known is Any."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getitem__(self, name: str) -> Any:
        value = look_up(self._module, name)
        return Any if value is MISSING else value

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0


def annotation(module: ModuleType, given: Any) -> Any:
    """Evaluate an annotation of a module: a text, a syntax tree, or a type already."""
    text = ast.unparse(given) if isinstance(given, ast.AST) else given
    if getattr(text, "__forward_arg__", None):
        text = text.__forward_arg__
    if not isinstance(text, str):
        return text
    try:
        value = eval(text, {}, _Names(module))  # of fictl's own code
    except Exception:  # An annotation that only a type checker can read.
        return Any
    return annotation(module, value) if isinstance(value, str) else value
