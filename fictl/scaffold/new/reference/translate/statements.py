"""The statements of a function, one after the other: names get values, and a return has one."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from fictl.scaffold.new.reference.source import FunctionSource
from fictl.scaffold.new.reference.translate.reader import Reader, Scope
from fictl.scaffold.new.reference.translate.value import NoTranslation, ReferenceValue, number

_DEPTH = 8


class File:
    """The file of a reference, whose functions and numbers it may use. `tensors` are names of
    parameters.
    """

    def __init__(self, function: FunctionSource, tensors: set[str]) -> None:
        self.tensors = tensors
        self._body = function.tree.body

    def run(
        self, node: ast.AST, body: Sequence[ast.stmt], scope: Scope, depth: int = 0
    ) -> ReferenceValue:
        if depth > _DEPTH:
            raise NoTranslation(node, "it calls itself")
        reader = Reader(self, scope, depth)
        for statement in body:
            if isinstance(statement, ast.Return) and statement.value is not None:
                return reader.value(statement.value)
            _take(reader, scope, statement)
        raise NoTranslation(node, "it returns nothing")

    def constant(self, name: str) -> ast.expr | None:
        """A number at the top level of the file."""
        for statement in self._body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=bound_name)], value=value):
                    assigned: ast.expr | None = value
                case ast.AnnAssign(target=ast.Name(id=bound_name), value=assigned):
                    pass
                case _:
                    continue
            if bound_name == name and assigned is not None and number(assigned) is not None:
                return assigned
        return None

    def function(self, name: str) -> ast.FunctionDef | None:
        functions = (node for node in self._body if isinstance(node, ast.FunctionDef))
        return next((node for node in functions if node.name == name), None)

    def call(
        self,
        node: ast.Call,
        function: ast.FunctionDef,
        values: Mapping[str, ReferenceValue],
        depth: int,
    ) -> ReferenceValue:
        """Value of a call of a function of the same file, as if its body stood there."""
        has_docstring = ast.get_docstring(function) is not None
        return self.run(
            node, function.body[1:] if has_docstring else function.body, {**values}, depth + 1
        )


def _take(reader: Reader, scope: Scope, statement: ast.stmt) -> None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            scope[name] = reader.later(value)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            scope[name] = reader.later(value)
        case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
            both = ast.BinOp(ast.Name(name, ast.Load()), op, value)
            scope[name] = reader.later(ast.copy_location(both, target))
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
            whole = reader.later(value)
            apart = NoTranslation(statement, "it takes a value apart")
            for element in targets:
                if isinstance(element, ast.Name):
                    scope[element.id] = whole if isinstance(whole, NoTranslation) else apart
        case ast.Assert() | ast.Pass() | ast.Expr(value=ast.Constant()):
            pass
        case _:
            raise NoTranslation(statement, "only assignments and a return have a translation")
