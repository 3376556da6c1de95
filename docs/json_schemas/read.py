"""Reading of code: which values its expressions have, and what its functions return."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Hashable
from typing import Any

from json_schemas import types
from json_schemas.calls import of_builtin, of_method
from json_schemas.names import MISSING, definition
from json_schemas.shape import (
    array,
    union,
)
from json_schemas.statements import Statements
from json_schemas.values import (
    UNKNOWN,
    Bound,
    Json,
    Known,
    Nested,
    Scope,
    Typed,
    Value,
    evaluated,
    joined,
    shape_of,
)

_DEEPEST = 40
# Commands are read whatever they return: they show results.
_SHOWING = "fictl.cli"


class Reader(Statements):
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
    def _call(self, node: ast.Call, scope: Scope) -> Value:
        function = self.value(node.func, scope)
        given = [self.value(one, scope) for one in node.args]
        named = {word.arg: self.value(word.value, scope) for word in node.keywords if word.arg}
        return self.result(function, given, named, scope)

    def result(
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
        own = of_builtin(thing, given, lambda one: self.result(given[0], [one], {}, scope))
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
