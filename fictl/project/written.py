"""Callers of an exported function, and which of its arguments they let it write."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from fictl.project.check.bindings import kernel_attributes
from fictl.project.declaration import Declaration, read_declarations
from fictl.project.python_source import definitions, parse


def callers_of(op: Path, export: str) -> list[Declaration]:
    """The public functions of op.py that call it, themselves or through private ones."""
    declared = {declaration.name: declaration for declaration in read_declarations(op)}
    calling = _reaching(parse(op), export, declared)
    callers = [declaration for name, declaration in declared.items() if name in calling]
    if callers:
        return callers
    # It is called from elsewhere, as from a file that the family shares.
    return [declared[export]] if export in declared else [*declared.values()]


def written_by(op: Path, export: str, parameters: Sequence[str]) -> frozenset[str]:
    """Parameters of an export that its callers in op.py declare in `mutates`.

    What another function of the file writes does not concern this one. A parameter in whose place
    a caller passes an argument that it does not write is not written.
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
    """The definitions that call it, themselves or through others that are not public."""
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
    """The places where it passes one of its own arguments, as it got it, that it does not write."""
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
