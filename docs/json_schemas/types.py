"""Shapes of Python types: what json.dumps(default=str) makes of their values."""

from __future__ import annotations

import collections
import collections.abc
import enum
import sys
import types
import typing
from dataclasses import fields, is_dataclass
from typing import Any

import typing_extensions

from json_schemas.names import annotation
from json_schemas.shape import ANY, NULL, TEXT, Shape, array, mapping, record, union

_PLAIN: dict[Any, Shape] = {
    str: TEXT,
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    None: NULL,
    type(None): NULL,
}
_LISTS = (
    list,
    tuple,
    collections.abc.Sequence,
    collections.abc.Collection,
    collections.abc.Iterable,
)
_LISTS += (collections.abc.Iterator, collections.abc.Generator)
_SETS = (set, frozenset)
_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


def arguments(kind: Any) -> tuple[Any, ...]:
    return typing.get_args(kind)


def origin(kind: Any) -> Any:
    return typing.get_origin(kind) or kind


def alternatives(kind: Any) -> tuple[Any, ...]:
    """Split a union; another type is its one alternative."""
    if origin(kind) in (typing.Union, types.UnionType):
        return arguments(kind)
    return (kind,)


def is_vague(kind: Any) -> bool:
    """True for dict[str, Any], object and the like: the code says more than its annotation."""
    if kind in (Any, object, dict, list, tuple):
        return True
    return any(is_vague(one) for one in arguments(kind) if not isinstance(one, list))


def is_callable(kind: Any) -> bool:
    return origin(kind) is collections.abc.Callable and bool(arguments(kind))


def item_of(kind: Any) -> Any:
    """Return the type of what iteration over a value yields."""
    if origin(kind) in (*_LISTS, *_SETS) and arguments(kind):
        own = [one for one in arguments(kind) if one is not Ellipsis]
        return own[0] if len(set(map(str, own))) == 1 or origin(kind) is not tuple else Any
    if origin(kind) in _MAPPINGS and arguments(kind):
        return arguments(kind)[0]
    return str if kind is str else Any


def hint(cls: Any, name: str) -> Any:
    """Return the declared type of an attribute of a class; None if there is none."""
    for base in getattr(cls, "__mro__", ()):
        own = vars(base).get("__annotations__", {})
        if isinstance(own, dict) and name in own:
            return annotation(sys.modules[base.__module__], own[name])
    return None


def shape_of(kind: Any, deep: bool = False) -> Shape:
    """Return the shape of values of a type; `deep` as in dataclasses.asdict."""
    if typing_extensions.is_typeddict(kind):
        return _typed_dict(kind)
    kind = _stripped(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if len(alternatives(kind)) > 1:
        return union(shape_of(one, deep) for one in alternatives(kind))
    base = origin(kind)
    if base is typing.Literal:
        return union(_PLAIN[type(value)] for value in arguments(kind))
    if base is collections.Counter:
        return mapping(_PLAIN[int])
    if base in _MAPPINGS:
        return mapping(shape_of(arguments(kind)[1], deep) if arguments(kind) else ANY)
    if base in _LISTS:
        own = [one for one in arguments(kind) if one is not Ellipsis]
        return array(union(shape_of(one, deep) for one in own) if own else ANY)
    if not isinstance(kind, type) or kind in (Any, object):
        return ANY
    if deep and is_dataclass(kind):
        return fields_of(kind)
    return _of_class(kind)


def fields_of(cls: Any, deep: bool = True) -> Shape:
    """Return the shape of a dataclass's fields, as of asdict or, not deep, of vars."""
    return record({field.name: shape_of(hint(cls, field.name), deep) for field in fields(cls)})


def _of_class(kind: type) -> Shape:
    if issubclass(kind, enum.Enum):
        return TEXT
    for plain in (bool, int, float, str):
        if issubclass(kind, plain):
            return _PLAIN[plain]
    if issubclass(kind, tuple):
        return array(ANY)
    return mapping(ANY) if issubclass(kind, dict) else TEXT


def _typed_dict(kind: Any) -> Shape:
    module = sys.modules[kind.__module__]
    properties = {
        name: shape_of(_stripped(annotation(module, hinted)))
        for name, hinted in kind.__annotations__.items()
    }
    return record(properties, kind.__optional_keys__)


def _stripped(kind: Any) -> Any:
    while origin(kind) in (typing.Annotated, typing_extensions.NotRequired, typing.ClassVar):
        kind = arguments(kind)[0]
    return getattr(kind, "__supertype__", kind)
