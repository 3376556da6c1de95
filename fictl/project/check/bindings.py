"""Rules for an op's interfaces: calls match exports, declarations match launchers."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator

from fictl.project.check.problem import Problem
from fictl.project.cpp_source import CppSignature, read_cpp
from fictl.project.folder import OpFolder
from fictl.project.python_source import parse

_MAKES_MODULE = re.compile(r"(\w+\.)*KernelModule\(")


def exports_are_called(folder: OpFolder) -> Iterator[Problem]:
    if not os.path.isfile(folder.binding):
        return
    exported = read_cpp(folder.binding).exports
    called = _called(parse(folder.op))
    shared = {name for path in folder.family_files() for name in _attributes(parse(path))}
    for name, line in exported.items():
        if name not in called and name not in shared:
            yield Problem(
                "exports",
                folder.binding,
                line,
                f"{name} is exported and op.py never calls it",
                f"call kernel.{name}(…), or drop the export",
            )
    for name, line in called.items():
        if name not in exported:
            yield Problem(
                "exports",
                folder.op,
                line,
                f"op.py calls {name}; binding.cpp has no such export",
                f"TVM_FFI_DLL_EXPORT_TYPED_FUNC({name}, …)",
            )


def declarations_are_the_launchers(folder: OpFolder) -> Iterator[Problem]:
    """Compare binding.cpp's declarations with launchers; linker errors come late, and mangled."""
    if not os.path.isfile(folder.binding):
        return
    launchers = [read_cpp(path) for path in folder.launchers]
    for name, declared in read_cpp(folder.binding).declared:
        for launcher in launchers:
            defined = launcher.defined(name)
            if defined and all(_types(signature) != _types(declared) for signature in defined):
                actual, wanted = (
                    f"({', '.join(_types(signature))})" for signature in (declared, defined[0])
                )
                yield Problem(
                    "declares",
                    folder.binding,
                    declared.line,
                    f"{name}{actual} is declared, {launcher.path.name} has {name}{wanted}",
                    f"declare what {launcher.path.name}:{defined[0].line} defines",
                )


def _types(signature: CppSignature) -> tuple[str, ...]:
    return tuple(parameter for parameter, _ in signature.parameters)


def _called(tree: ast.Module) -> dict[str, int]:
    return {node.attr: node.lineno for node in kernel_attributes(tree)}


def kernel_attributes(tree: ast.Module) -> Iterator[ast.Attribute]:
    """Yield accesses to the loaded module, under any of its names, as in `kernel.scale`."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.Attribute)]
    modules = _module_names([node for node in nodes if isinstance(node, ast.Assign)])
    for node in nodes:
        if isinstance(node, ast.Attribute) and _owner(node.value) in modules:
            yield node


def _module_names(assignments: list[ast.Assign]) -> set[str]:
    """Return names of `KernelModule(…)`: `kernel`, and any assigned `kernel` or `kernel[…]`."""
    values = [(_owner(node.value), [*map(ast.unparse, node.targets)]) for node in assignments]
    names: set[str] = set()
    before = -1
    while len(names) > before:
        before = len(names)
        for value, targets in values:
            if _MAKES_MODULE.match(value) or value in names:
                names.update(targets)
    return names


def _owner(node: ast.expr) -> str:
    return ast.unparse(node.value if isinstance(node, ast.Subscript) else node)


def _attributes(tree: ast.Module) -> set[str]:
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
