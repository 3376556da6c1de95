"""Reading of code: which values its expressions have, and what its functions return."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from json_schemas import types
from json_schemas.calls import of_builtin, of_method
from json_schemas.names import MISSING, definition, look_up
from json_schemas.shape import (
    ANY,
    Shape,
    all_optional,
    array,
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
    Bound,
    Json,
    Known,
    Nested,
    Scope,
    Several,
    Typed,
    Value,
    attribute,
    evaluated,
    fields_of,
    item_of,
    joined,
    shape_of,
)

_DEEPEST = 40
# Commands are read whatever they return: they show results.
_SHOWING = "fictl.cli"


class Reader:
    """Reads functions; `show` hears of each call of a function that it names."""

    def __init__(self, listeners: dict[Any, Callable[[list[Value]], None]]) -> None:
        self._listeners = listeners
        self._reading: list[Any] = []

    def returned(self, function: Any, given: list[Value], named: dict[str, Value]) -> Value:
        """Return what a function of fictl returns for these arguments."""
        function = inspect.unwrap(getattr(function, "__func__", function))
        hinted = self._hinted(function)
        found = definition(function)
        shows = str(getattr(function, "__module__", "")).startswith(_SHOWING)
        told = isinstance(hinted, Typed) and not types.is_vague(hinted.kind)
        if found is None or (told and not shows) or function in self._reading:
            return hinted or UNKNOWN
        if len(self._reading) > _DEEPEST:
            return hinted or UNKNOWN
        self._reading.append(function)
        module, node = found
        value = self._called(node, Scope(module), given, named)
        self._reading.pop()
        return hinted if told and hinted else value

    def _hinted(self, function: Any) -> Value | None:
        module = inspect.getmodule(function)
        given = getattr(function, "__annotations__", {}).get("return", MISSING)
        if module is None or given is MISSING:
            return None
        return evaluated(module, given)

    def _called(
        self, node: ast.FunctionDef | ast.Lambda, scope: Scope, given: list[Value], named: Any
    ) -> Value:
        """Read the body of a function in a scope of its own."""
        words = [*node.args.posonlyargs, *node.args.args]
        for index, word in enumerate([*words, *node.args.kwonlyargs]):
            own = evaluated(scope.module, word.annotation) if word.annotation else UNKNOWN
            passed = named.get(word.arg) or (
                given[index] if index < min(len(given), len(words)) else None
            )
            vague = not isinstance(own, Typed) or types.is_vague(own.kind)
            closer = vague or isinstance(passed, (Nested, Bound, Known))
            scope.names[word.arg] = passed if passed is not None and closer else own
        if isinstance(node, ast.Lambda):
            return self.value(node.body, scope)
        self.statements(node.body, scope)
        if scope.yielded:
            return Json(array(union(map(shape_of, scope.yielded))))
        return joined(scope.returned) if scope.returned else Typed(type(None))

    # Statements

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
                    self._assign(target, self.value(node.value, scope), scope, certain)
            case ast.AnnAssign() if node.value is not None:
                value = self.value(node.value, scope)
                hinted = evaluated(scope.module, node.annotation)
                open_ = is_open(shape_of(value)) or isinstance(value, Known)
                self._assign(node.target, hinted if open_ else value, scope, certain)
            case ast.AugAssign():
                both = ast.BinOp(_loaded(node.target), node.op, node.value)
                self._assign(node.target, self.value(both, scope), scope, certain)
            case ast.Delete():
                for target in node.targets:
                    self._delete(target, scope, certain)
            case ast.If():
                self.value(node.test, scope)
                self.statements(node.body, scope, certain=False)
                self.statements(node.orelse, scope, certain=False)
            case ast.For():
                self._assign(node.target, item_of(self.value(node.iter, scope)), scope, True)
                self.statements(node.body, scope, certain=False)
            case ast.While():
                self.statements(node.body, scope, certain=False)
            case ast.With():
                for item in node.items:
                    value = self._entered(self.value(item.context_expr, scope))
                    if item.optional_vars:
                        self._assign(item.optional_vars, value, scope, True)
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

    def _assign(self, target: ast.expr, value: Value, scope: Scope, certain: bool) -> None:
        if isinstance(target, ast.Name):
            before = scope.names.get(target.id)
            keep = [before] if before is not None and not certain else []
            scope.names[target.id] = joined([*keep, value])
        elif isinstance(target, ast.Tuple):
            for index, part in enumerate(target.elts):
                self._assign(part, _part(value, index, len(target.elts)), scope, certain)
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
                self._assign(node.generators[0].target, one, inner, True)
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
            self._assign(loop.target, item_of(self.value(loop.iter, inner)), inner, True)
        return inner

    def _namedexpr(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.value(node.value, scope)
        self._assign(node.target, value, scope, True)
        return value

    def _yield(self, node: ast.Yield, scope: Scope) -> Value:
        scope.yielded.append(self.value(node.value, scope) if node.value else UNKNOWN)
        return UNKNOWN

    def _yieldfrom(self, node: ast.YieldFrom, scope: Scope) -> Value:
        scope.yielded.append(item_of(self.value(node.value, scope)))
        return UNKNOWN

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        function = self.value(node.func, scope)
        given = [self.value(one, scope) for one in node.args]
        named = {word.arg: self.value(word.value, scope) for word in node.keywords if word.arg}
        return self._result(function, given, named, scope)

    def _result(
        self, function: Value, given: list[Value], named: dict[str, Value], scope: Scope
    ) -> Value:
        if isinstance(function, Nested):
            inner = Scope(function.scope.module, around=function.scope)
            return self._called(function.node, inner, given, named)
        if isinstance(function, Bound):
            return self._of_bound(function, given, named)
        if isinstance(function, Typed) and types.is_callable(function.kind):
            return evaluated(scope.module, types.arguments(function.kind)[-1])
        if not isinstance(function, Known):
            return UNKNOWN
        thing = function.object
        if isinstance(thing, Hashable) and thing in self._listeners:
            self._listeners[thing](given)
        own = of_builtin(thing, given, lambda one: self._result(given[0], [one], {}, scope))
        if own is not None:
            return own
        return Typed(thing) if isinstance(thing, type) else self.returned(thing, given, named)

    def _of_bound(self, method: Bound, given: list[Value], named: dict[str, Value]) -> Value:
        if isinstance(method.function, str):
            return of_method(method.owner, method.function, given) or UNKNOWN
        plain = getattr(method.function, "__func__", method.function)
        if isinstance(plain, Hashable) and plain in self._listeners:
            self._listeners[plain](given)
        own = of_method(method.owner, getattr(plain, "__name__", ""), given)
        if own is not None:
            return own
        is_static = "self" not in _words(plain) and "cls" not in _words(plain)
        owner = [] if is_static else [method.owner]
        return self.returned(plain, [*owner, *given], named)


def _words(function: Any) -> tuple[str, ...]:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return tuple(code.co_varnames[:1]) if code else ()


def _is_property(found: Bound) -> bool:
    cls = types.origin(found.owner.kind) if isinstance(found.owner, Typed) else None
    own = inspect.getattr_static(cls, getattr(found.function, "__name__", ""), None)
    return hasattr(own, "fget") or hasattr(own, "attrname")


def _part(value: Value, index: int, count: int) -> Value:
    if isinstance(value, Several) and len(value.items) == count:
        return value.items[index]
    own = types.arguments(value.kind) if isinstance(value, Typed) else ()
    if isinstance(value, Typed) and types.origin(value.kind) is tuple and len(own) == count:
        return Typed(own[index])
    return item_of(value)


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


def _loaded(node: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(node), mode="eval").body
