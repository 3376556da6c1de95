"""Finds the callers of an exported function, and the arguments that it may write."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from fictl.project.check.bindings import kernel_attributes
from fictl.project.declaration import Declaration, read_declarations
from fictl.project.python_source import definitions, parse


def callers_of(op: Path, export: str) -> list[Declaration]:
    """Return the public functions of op.py that call the export, directly or indirectly."""
    declared = {declaration.name: declaration for declaration in read_declarations(op)}
    calling = _reaching(parse(op), export, declared)
    callers = [declaration for name, declaration in declared.items() if name in calling]
    if callers:
        return callers
    # Called from elsewhere, for example from a file that the family shares.
    return [declared[export]] if export in declared else [*declared.values()]


def written_by(op: Path, export: str, parameters: Sequence[str]) -> frozenset[str]:
    """Return the parameters of an export that its callers in op.py declare in `mutates`.

    `mutates` of functions that do not call the export is ignored. A parameter is not written if a
    caller passes one of its own parameters there that is not in its `mutates`.
    """
    callers, named = callers_of(op, export), definitions(parse(op))
    written = {name for caller in callers for name in caller.mutates}
    read = {
        parameters[place]
        for caller in callers
        for place in _only_read(named[caller.name], caller, export)
        if place < len(parameters)
    }
    return frozenset(written - read)


def _reaching(tree: ast.Module, export: str, public: Collection[str]) -> set[str]:
    """Return the definitions that call the export, directly or through private ones."""
    taken = {id(node) for node in kernel_attributes(tree) if node.attr == export}
    bodies = {
        name: [*ast.walk(node)]
        for name, node in definitions(tree).items()
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    names = {name for name, nodes in bodies.items() if any(id(node) in taken for node in nodes)}
    before: set[str] = set()
    while names != before:
        before, private = names, names - {*public}
        names = before | {
            name
            for name, nodes in bodies.items()
            if any(isinstance(node, ast.Name) and node.id in private for node in nodes)
        }
    return names


def _only_read(node: ast.stmt, declared: Declaration, export: str) -> Iterator[int]:
    """Yield positions where it passes one of its parameters, unchanged and not in `mutates`."""
    nodes = [*ast.walk(node)]
    bound = {
        name.id for name in nodes if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    own = {parameter.name for parameter in declared.parameters} - {*declared.mutates} - bound
    for call in nodes:
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == export:
            for place, argument in enumerate(call.args):
                if isinstance(argument, ast.Starred):
                    break
                if isinstance(argument, ast.Name) and argument.id in own:
                    yield place
