"""The two ends of the FFI: what binding.cpp exports is what op.py calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fictl.project.check.problem import Problem
from fictl.project.cpp_source import CppSource
from fictl.project.folder import OpFolder
from fictl.project.python_source import parse


def exports_are_called(folder: OpFolder) -> Iterator[Problem]:
    if not folder.binding.is_file():
        return
    exported = CppSource(folder.binding).exports
    called = _called(parse(folder.op))
    shared = {
        name for path in folder.path.parent.glob("_*.py") for name in _attributes(parse(path))
    }
    for name, line in exported.items():
        if name not in called and name not in shared:
            yield Problem(
                "exports", folder.binding, line, f"{name} is exported and op.py never calls it",
                f"call kernel.{name}(…), or drop the export",
            )  # fmt: skip
    for name, line in called.items():
        if name not in exported:
            yield Problem(
                "exports", folder.op, line, f"op.py calls {name}; binding.cpp has no such export",
                f"TVM_FFI_DLL_EXPORT_TYPED_FUNC({name}, …)",
            )  # fmt: skip


def _called(tree: ast.Module) -> dict[str, int]:
    """Name -> line of the attributes taken from the loaded module, under any name it has."""
    modules = _module_names(tree)
    return {
        node.attr: node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and _owner(node.value) in modules
    }


def _module_names(tree: ast.Module) -> set[str]:
    """`kernel = KernelModule(…)`, and what is assigned `kernel` or `kernel[…]`."""
    names: set[str] = set()
    assignments = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    for _ in assignments:
        before = len(names)
        for node in assignments:
            made = isinstance(node.value, ast.Call) and ast.unparse(node.value.func).endswith(
                "KernelModule"
            )
            if made or _owner(node.value) in names:
                names |= {ast.unparse(target) for target in node.targets}
        if len(names) == before:
            break
    return names


def _owner(node: ast.expr) -> str:
    return ast.unparse(node.value if isinstance(node, ast.Subscript) else node)


def _attributes(tree: ast.Module) -> set[str]:
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
