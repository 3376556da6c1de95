"""Expressions: which values they have."""

from __future__ import annotations

import ast
import inspect
from abc import ABC, abstractmethod
from typing import Any

from json_schemas import types
from json_schemas.names import MISSING, look_up
from json_schemas.shape import (
    ANY,
    Shape,
    all_optional,
    array,
    is_record,
    mapping,
    merged,
    record,
    union,
    without,
)
from json_schemas.values import (
    UNKNOWN,
    Bound,
    Json,
    Known,
    Nested,
    Scope,
    Several,
    Typed,
    Value,
    attribute,
    fields_of,
    item_of,
    joined,
    shape_of,
)


class Expressions(ABC):
    """Reads expressions; statements and calls are read by who derives from it."""

    @abstractmethod
    def assign(self, target: ast.expr, value: Value, scope: Scope, certain: bool) -> None: ...

    @abstractmethod
    def returned(self, function: Any, given: list[Value], named: dict[str, Value]) -> Value: ...

    def value(self, node: ast.expr, scope: Scope) -> Value:
        read = getattr(self, f"_{type(node).__name__.lower()}", None)
        result = read(node, scope) if read else UNKNOWN
        if isinstance(result, Bound) and not isinstance(node, ast.Attribute):
            return result
        assert result is not None
        return result  # type: ignore[no-any-return]

    def _constant(self, node: ast.Constant, scope: Scope) -> Value:
        return Known(node.value) if isinstance(node.value, str) else Typed(type(node.value))

    def _joinedstr(self, node: ast.JoinedStr, scope: Scope) -> Value:
        return Typed(str)

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        return Typed(bool)

    def _unaryop(self, node: ast.UnaryOp, scope: Scope) -> Value:
        return Typed(bool) if isinstance(node.op, ast.Not) else self.value(node.operand, scope)

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        own = scope.get(node.id)
        if own is not None:
            return own
        found = look_up(scope.module, node.id)
        return UNKNOWN if found is MISSING else Known(found)

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return Nested(node, scope)

    def _starred(self, node: ast.Starred, scope: Scope) -> Value:
        return item_of(self.value(node.value, scope))

    def _ifexp(self, node: ast.IfExp, scope: Scope) -> Value:
        return joined([self.value(node.body, scope), self.value(node.orelse, scope)])

    def _boolop(self, node: ast.BoolOp, scope: Scope) -> Value:
        *first, last = (self.value(one, scope) for one in node.values)
        if isinstance(node.op, ast.Or):
            return joined([*map(_truthy, first), last])
        return joined([*filter(None, map(_falsy, first)), last])

    def _binop(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        shapes = [shape_of(left), shape_of(right)]
        kinds = [shape.get("type") for shape in shapes]
        if isinstance(node.op, ast.BitOr) and kinds == ["object", "object"]:
            return Json(merged(shapes))
        if isinstance(node.op, ast.Div) and set(kinds) <= {"integer", "number"}:
            return Typed(float)
        if kinds[0] == kinds[1] or set(kinds) <= {"integer", "number", "boolean"}:
            return joined([left, right]) if isinstance(left, Typed) else Json(union(shapes))
        return left if kinds[1] in ("string", "integer") else UNKNOWN

    def _tuple(self, node: ast.Tuple, scope: Scope) -> Value:
        if any(isinstance(one, ast.Starred) for one in node.elts):
            return self._list(node, scope)
        return Several(tuple(self.value(one, scope) for one in node.elts))

    def _list(self, node: ast.List | ast.Tuple, scope: Scope) -> Value:
        values = [self.value(one, scope) for one in node.elts]
        if values and all(isinstance(one, Typed) for one in values):
            kind = joined(values)
            return Typed(list[kind.kind]) if isinstance(kind, Typed) else UNKNOWN
        return Json(array(union(map(shape_of, values)) if values else ANY))

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        parts: list[Shape] = []
        for key, value in zip(node.keys, node.values, strict=True):
            shape = shape_of(self.value(value, scope))
            if key is None:
                parts.append(shape if shape.get("type") == "object" else mapping(ANY))
                continue
            known = self.value(key, scope)
            if isinstance(known, Known):
                parts.append(record({str(known.object): shape}))
            else:
                parts.append(mapping(shape))
        return Json(_one_mapping(parts) or merged(parts))

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        owner = self.value(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            return owner
        shape = shape_of(owner)
        key = self.value(node.slice, scope)
        if is_record(shape) and isinstance(key, Known):
            return Json(shape["properties"].get(key.object, ANY))
        if shape.get("type") == "object":
            kind = owner.kind if isinstance(owner, Typed) else None
            own = types.arguments(kind)
            return Typed(own[1]) if len(own) == 2 else Json(_others(shape))
        if isinstance(owner, Several) and isinstance(node.slice, ast.Constant):
            return owner.items[int(node.slice.value)]  # type: ignore[arg-type]
        return item_of(owner)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        owner = self.value(node.value, scope)
        if node.attr == "__dict__":
            return Json(fields_of(owner, deep=False))
        found = attribute(owner, node.attr)
        if isinstance(found, Bound) and _is_property(found):
            return self.returned(found.function, [found.owner], {})
        if found == UNKNOWN and not isinstance(owner, Known):
            return Bound(node.attr, owner)
        return found

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> Value:
        inner = self._generated(node.generators, scope)
        item = self.value(node.elt, inner)
        if isinstance(item, Typed) and item.kind is not Any:
            return Typed(list[item.kind])
        return Json(array(shape_of(item)))

    _generatorexp = _setcomp = _listcomp

    def _dictcomp(self, node: ast.DictComp, scope: Scope) -> Value:
        copied = self._copied(node, scope)
        if copied is not None:
            return Json(copied)
        first = self.value(node.generators[0].iter, scope)
        if isinstance(first, Several) and all(isinstance(one, Known) for one in first.items):
            shapes = {}
            for one in first.items:
                inner = Scope(scope.module, around=scope)
                self.assign(node.generators[0].target, one, inner, True)
                shapes[str(one.object)] = shape_of(self.value(node.value, inner))  # type: ignore[union-attr]
            return Json(record(shapes, shapes if node.generators[0].ifs else ()))
        inner = self._generated(node.generators, scope)
        return Json(mapping(shape_of(self.value(node.value, inner))))

    def _copied(self, node: ast.DictComp, scope: Scope) -> Shape | None:
        """Read `{name: value for name, value in data.items() if name != "text"}`, and the like."""
        loop = node.generators[0]
        over: ast.expr = loop.iter
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute):
            over = over.func.value
        shape = shape_of(self.value(over, scope))
        key = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
        whole = ast.unparse(node.value) in (
            ast.unparse(loop.target.elts[-1]) if isinstance(loop.target, ast.Tuple) else "",
            f"{ast.unparse(over)}[{ast.unparse(key)}]",
        )
        if not (is_record(shape) and whole and ast.unparse(node.key) == ast.unparse(key)):
            return None
        gone = [_left_out(test, ast.unparse(key)) for test in loop.ifs]
        return without(shape, map(str, gone)) if all(gone) else all_optional(shape)

    def _generated(self, loops: list[ast.comprehension], scope: Scope) -> Scope:
        inner = Scope(scope.module, around=scope)
        for loop in loops:
            self.assign(loop.target, item_of(self.value(loop.iter, inner)), inner, True)
        return inner

    def _namedexpr(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.value(node.value, scope)
        self.assign(node.target, value, scope, True)
        return value

    def _yield(self, node: ast.Yield, scope: Scope) -> Value:
        scope.yielded.append(self.value(node.value, scope) if node.value else UNKNOWN)
        return UNKNOWN

    def _yieldfrom(self, node: ast.YieldFrom, scope: Scope) -> Value:
        scope.yielded.append(item_of(self.value(node.value, scope)))
        return UNKNOWN


def _is_property(found: Bound) -> bool:
    cls = types.origin(found.owner.kind) if isinstance(found.owner, Typed) else None
    own = inspect.getattr_static(cls, getattr(found.function, "__name__", ""), None)
    return hasattr(own, "fget") or hasattr(own, "attrname")


def _left_out(test: ast.expr, key: str) -> str | None:
    """Return "text" of `name != "text"`."""
    plain = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotEq)
    if plain and isinstance(test, ast.Compare) and ast.unparse(test.left) == key:
        other = test.comparators[0]
        return str(other.value) if isinstance(other, ast.Constant) else None
    return None


def _truthy(value: Value) -> Value:
    if isinstance(value, Typed):
        kinds = [one for one in types.alternatives(value.kind) if one not in (None, type(None))]
        return joined([Typed(one) for one in kinds]) if kinds else value
    return value


def _falsy(value: Value) -> Value | None:
    """Return the values of `x and …` that are x: of an optional object, None."""
    kinds = types.alternatives(value.kind) if isinstance(value, Typed) else ()
    if type(None) in kinds:
        return Typed(type(None))
    return value if isinstance(value, Typed) and kinds[0] in (bool, str, int, float) else None


def _one_mapping(parts: list[Shape]) -> Shape | None:
    """Join parts that have no name in common: a mapping of data."""
    if parts and not any(is_record(part) for part in parts):
        values = [part.get("additionalProperties") for part in parts]
        return mapping(ANY if True in values else union([one for one in values if one]))
    return None


def _others(shape: Shape) -> Shape:
    more = shape.get("additionalProperties")
    return more if isinstance(more, dict) else ANY
