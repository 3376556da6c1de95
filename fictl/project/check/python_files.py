"""Rules for imports of an op's Python files, so that a folder can be copied or deleted."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from fictl.paths import matching
from fictl.project.check.problem import Problem
from fictl.project.folder import OpFolder
from fictl.project.python_source import parse

_OURS = ("fictl.op", "fictl.jit", "fictl.trace", "fictl.bench", "fictl.comm")
_FIX = (
    "allowed: fictl.{op,jit,trace,bench,comm}, torch, the standard library, own files, the family's "
    "_*.py, and the functions of other modules that @op(uses=…) names"
)

# What a kernel.py is written in.
_KERNELS = ("triton", "cutlass")


def imports_stay_inside(folder: OpFolder) -> Iterator[Problem]:
    used = {name for declaration in folder.declarations() for name in declaration.uses}
    for path in matching(folder.path, "*.py"):
        for node in _statements(parse(path), path != folder.bench):
            for name, line in _imports(node, folder):
                in_triton = path == folder.triton and name.partition(".")[0] in _KERNELS
                if not in_triton and not _is_allowed(name, folder, used):
                    yield Problem("imports", path, line, f"{path.name} imports {name}", _FIX)


def _statements(tree: ast.AST, in_functions: bool) -> Iterator[ast.stmt]:
    """Yield statements. Those in bench.py's functions are skipped: they may import any library."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            if isinstance(node, ast.stmt):
                yield node
            if in_functions or not isinstance(node, ast.FunctionDef):
                yield from _statements(node, in_functions)


def _imports(node: ast.stmt, folder: OpFolder) -> Iterator[tuple[str, int]]:
    """Yield absolute names and lines: `fictl.kernels.norm.rmsnorm.op.rmsnorm`."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, node.lineno) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parents = folder.package.split(".")
        above = parents[: len(parents) - node.level + 1] if node.level else []
        start = ".".join([*above, node.module] if node.module else above)
        yield from ((f"{start}.{alias.name}", node.lineno) for alias in node.names)


def _is_allowed(name: str, folder: OpFolder, used: set[str]) -> bool:
    top, _, rest = name.partition(".")
    if top in sys.stdlib_module_names or top == "torch":
        return True
    if name in _OURS or name.rpartition(".")[0] in _OURS:
        return True
    if name.startswith(f"{folder.package}.") or _is_of_family(name, folder):
        return True
    return name.rpartition(".")[2] in used and (rest.startswith("ops.") or ".op." in name)


def _is_of_family(name: str, folder: OpFolder) -> bool:
    family = f"{folder.project.package}.{folder.family}."
    first = name.removeprefix(family).partition(".")[0]
    return name.startswith(family) and first.startswith("_")
