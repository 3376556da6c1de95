"""Values while code is read: the type of one, its JSON, or the object itself."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

from json_schemas import types
from json_schemas.names import annotation
from json_schemas.shape import ANY, Shape, array, elements, union


@dataclass(frozen=True)
class Json:
    """A value of dicts and lists that the code has written out."""

    shape: Shape


@dataclass(frozen=True)
class Typed:
    """A value of a Python type."""

    kind: Any


@dataclass(frozen=True)
class Known:
    """The object itself: a class, a function, a module, a constant."""

    object: Any


@dataclass(frozen=True)
class Bound:
    """A method, or a property, of a value."""

    function: Any
    owner: Value


@dataclass(frozen=True)
class Several:
    """A tuple whose elements are known one by one."""

    items: tuple[Value, ...]


@dataclass
class Scope:
    """Names of a function that is read, and of those around it."""

    module: ModuleType
    names: dict[str, Value] = field(default_factory=dict)
    around: Scope | None = None
    returned: list[Value] = field(default_factory=list)
    yielded: list[Value] = field(default_factory=list)

    def get(self, name: str) -> Value | None:
        if name in self.names:
            return self.names[name]
        return self.around.get(name) if self.around else None


@dataclass(frozen=True)
class Nested:
    """A function inside another one."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope


Value = Json | Typed | Known | Bound | Several | Nested
UNKNOWN = Typed(Any)


def shape_of(value: Value) -> Shape:
    """Return the shape of a value as JSON."""
    if isinstance(value, Json):
        return value.shape
    if isinstance(value, Typed):
        return types.shape_of(value.kind)
    if isinstance(value, Known) and not callable(value.object):
        return types.shape_of(type(value.object))
    if isinstance(value, Several):
        return array(union(map(shape_of, value.items)))
    return ANY


def joined(values: list[Value]) -> Value:
    """Return a value that is one of several."""
    alike = [value for index, value in enumerate(values) if value not in values[:index]]
    if len(alike) == 1:
        return alike[0]
    if alike and all(isinstance(value, Typed) for value in alike):
        kind: Any = None
        for value in alike:
            assert isinstance(value, Typed)
            kind = value.kind if value is alike[0] else _either(kind, value.kind)
        return Typed(kind)
    return Json(union(map(shape_of, alike)))


def _either(one: Any, other: Any) -> Any:
    try:
        return one | other
    except TypeError:
        return Any


def item_of(value: Value) -> Value:
    """Return what iteration over a value yields."""
    if isinstance(value, Several):
        return joined([*value.items])
    if isinstance(value, Typed):
        return Typed(types.item_of(value.kind))
    if isinstance(value, Known) and isinstance(value.object, (tuple, list)):
        return joined([Known(one) for one in value.object])
    return Json(elements(shape_of(value)))


def attribute(owner: Value, name: str) -> Value:
    """Return an attribute; of a property, what it returns is not read here."""
    if isinstance(owner, Known):
        if isinstance(owner.object, type) or hasattr(owner.object, name):
            return _of_object(owner.object, name)
        return UNKNOWN
    if not isinstance(owner, Typed):
        return UNKNOWN
    kinds = [kind for kind in types.alternatives(owner.kind) if kind is not type(None)]
    return joined([_of_type(kind, name, Typed(kind)) for kind in kinds]) if kinds else UNKNOWN


def _of_object(thing: Any, name: str) -> Value:
    own = getattr(thing, name, None)
    return Bound(own, Typed(thing)) if isinstance(thing, type) and callable(own) else Known(own)


def _of_type(kind: Any, name: str, owner: Value) -> Value:
    cls = types.origin(kind)
    hinted = types.hint(cls, name)
    own = next(
        (vars(base)[name] for base in getattr(cls, "__mro__", ()) if name in vars(base)), None
    )
    if isinstance(own, property):
        return Bound(own.fget, owner)
    if isinstance(own, cached_property):
        return Bound(own.func, owner)
    if hinted is not None:
        return Typed(hinted)
    if isinstance(own, (staticmethod, classmethod)):
        return Bound(own.__func__, owner)
    if own is None:
        return UNKNOWN
    return Bound(own, owner) if callable(own) else Typed(type(own))


def fields_of(value: Value, deep: bool) -> Shape:
    """Return the fields of a dataclass: asdict(value), or vars(value)."""
    if isinstance(value, Typed):
        classes = [types.origin(kind) for kind in types.alternatives(value.kind)]
        known = [types.fields_of(cls, deep) for cls in classes if is_dataclass(cls)]
        if known:
            return union(known)
    return {"type": "object"}


Evaluate = Callable[[ast.expr, Scope], Value]


def evaluated(module: ModuleType, given: Any) -> Value:
    """Return a value of an annotated type."""
    return Typed(annotation(module, given))
