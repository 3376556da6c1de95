"""Statements: what they do to the names of a scope."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from json_schemas import types
from json_schemas.expressions import Expressions
from json_schemas.shape import (
    is_open,
    is_record,
    mapping,
    merged,
    record,
    union,
    without,
)
from json_schemas.values import (
    UNKNOWN,
    Json,
    Known,
    Nested,
    Scope,
    Several,
    Typed,
    Value,
    evaluated,
    item_of,
    joined,
    shape_of,
)


class Statements(Expressions):
    """Reads statements in their order; `certain`: whether they run for sure."""

    def statements(self, body: Iterable[ast.stmt], scope: Scope, certain: bool = True) -> None:
        for node in body:
            self._statement(node, scope, certain)

    def _statement(self, node: ast.stmt, scope: Scope, certain: bool) -> None:
        match node:
            case ast.Return():
                scope.returned.append(self.value(node.value, scope) if node.value else UNKNOWN)
            case ast.Expr():
                self.value(node.value, scope)
            case ast.Assign():
                for target in node.targets:
                    self.assign(target, self.value(node.value, scope), scope, certain)
            case ast.AnnAssign() if node.value is not None:
                value = self.value(node.value, scope)
                hinted = evaluated(scope.module, node.annotation)
                open_ = is_open(shape_of(value)) or isinstance(value, Known)
                self.assign(node.target, hinted if open_ else value, scope, certain)
            case ast.AugAssign():
                both = ast.BinOp(_loaded(node.target), node.op, node.value)
                self.assign(node.target, self.value(both, scope), scope, certain)
            case ast.Delete():
                for target in node.targets:
                    self._delete(target, scope, certain)
            case ast.If():
                self.value(node.test, scope)
                self.statements(node.body, scope, certain=False)
                self.statements(node.orelse, scope, certain=False)
            case ast.For():
                self.assign(node.target, item_of(self.value(node.iter, scope)), scope, True)
                self.statements(node.body, scope, certain=False)
            case ast.While():
                self.statements(node.body, scope, certain=False)
            case ast.With():
                for item in node.items:
                    value = self._entered(self.value(item.context_expr, scope))
                    if item.optional_vars:
                        self.assign(item.optional_vars, value, scope, True)
                self.statements(node.body, scope, certain)
            case ast.Try():
                self.statements(node.body, scope, certain)
                for handler in node.handlers:
                    if handler.name and handler.type:
                        caught = self.value(handler.type, scope)
                        kind = caught.object if isinstance(caught, Known) else Any
                        scope.names[handler.name] = Typed(kind)
                    self.statements(handler.body, scope, certain=False)
                self.statements([*node.orelse, *node.finalbody], scope, certain)
            case ast.FunctionDef():
                scope.names[node.name] = Nested(node, scope)
            case _:
                pass

    def _entered(self, value: Value) -> Value:
        kind = value.kind if isinstance(value, Typed) else None
        if getattr(types.origin(kind), "__name__", "") in ("Iterator", "Generator"):
            return item_of(value)
        return value

    def assign(self, target: ast.expr, value: Value, scope: Scope, certain: bool) -> None:
        if isinstance(target, ast.Name):
            before = scope.names.get(target.id)
            keep = [before] if before is not None and not certain else []
            scope.names[target.id] = joined([*keep, value])
        elif isinstance(target, ast.Tuple):
            for index, part in enumerate(target.elts):
                self.assign(part, _part(value, index, len(target.elts)), scope, certain)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self._put(target, value, scope, certain)

    def _put(self, target: ast.Subscript, value: Value, scope: Scope, certain: bool) -> None:
        """Read `data["name"] = value`."""
        name = target.value.id if isinstance(target.value, ast.Name) else ""
        before = shape_of(scope.names.get(name, UNKNOWN))
        if before.get("type") != "object":
            return
        if isinstance(target.slice, ast.Constant):
            key = str(target.slice.value)
            added = record({key: shape_of(value)}, () if certain else (key,))
            scope.names[name] = Json(merged([before, added]))
        elif before == record({}):
            scope.names[name] = Json(mapping(shape_of(value)))

    def _delete(self, target: ast.expr, scope: Scope, certain: bool) -> None:
        if not (isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)):
            return
        before = shape_of(scope.names.get(target.value.id, UNKNOWN))
        if is_record(before) and isinstance(target.slice, ast.Constant):
            gone = without(before, [str(target.slice.value)])
            scope.names[target.value.id] = Json(gone if certain else union([before, gone]))

    # Expressions


def _part(value: Value, index: int, count: int) -> Value:
    if isinstance(value, Several) and len(value.items) == count:
        return value.items[index]
    own = types.arguments(value.kind) if isinstance(value, Typed) else ()
    if isinstance(value, Typed) and types.origin(value.kind) is tuple and len(own) == count:
        return Typed(own[index])
    return item_of(value)


def _loaded(node: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(node), mode="eval").body
