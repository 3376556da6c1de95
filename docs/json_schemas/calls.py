"""Calls of Python's own functions and methods, as far as documents are written with them."""

from __future__ import annotations

import builtins
import dataclasses
import json
from collections.abc import Callable, Hashable
from typing import Any

from json_schemas import types
from json_schemas.shape import ANY, NULL, TEXT, Shape, array, is_record, mapping, union
from json_schemas.values import (
    Json,
    Known,
    Several,
    Typed,
    Value,
    fields_of,
    item_of,
    joined,
    shape_of,
)

_PLAIN: dict[Any, Any] = {
    builtins.str: str,
    builtins.repr: str,
    builtins.int: int,
    builtins.len: int,
    builtins.float: float,
    builtins.bool: bool,
    builtins.any: bool,
    builtins.all: bool,
    builtins.isinstance: bool,
    builtins.callable: bool,
    builtins.hasattr: bool,
}
_LISTS = (
    builtins.list,
    builtins.tuple,
    builtins.sorted,
    builtins.set,
    builtins.reversed,
    builtins.iter,
)
_TEXTS = (
    "join replace strip rstrip lstrip lower upper format decode removeprefix removesuffix as_posix "
    "isoformat hexdigest read_text ljust rjust title strftime as_uri"
)
_LINES = ("split", "splitlines", "rsplit", "partition", "rpartition")


def of_builtin(thing: Any, given: list[Value], call: Callable[[Value], Value]) -> Value | None:
    """Return the result of one of Python's functions; None for others."""
    if not isinstance(thing, Hashable):
        return None
    if thing in _PLAIN:
        return Typed(_PLAIN[thing])
    if thing in _LISTS and given:
        return _list(item_of(given[0]))
    if thing is dataclasses.asdict:
        return Json(fields_of(given[0], deep=True))
    if thing is builtins.vars and given:
        return Json(fields_of(given[0], deep=False))
    if thing is dataclasses.replace:
        return given[0]
    if thing is builtins.dict:
        return _mapping(given)
    if thing is json.loads:
        return Json(ANY)
    return _of_items(thing, given, call)


def _of_items(thing: Any, given: list[Value], call: Callable[[Value], Value]) -> Value | None:
    if thing is builtins.map and len(given) > 1:
        return _list(call(item_of(given[1])))
    if thing is builtins.filter and len(given) > 1:
        return _list(item_of(given[1]))
    if thing is builtins.round and given:
        return Typed(float) if len(given) > 1 else Typed(int)
    if thing in (builtins.abs, builtins.sum) and given:
        return given[0] if thing is builtins.abs else item_of(given[0])
    if thing in (builtins.min, builtins.max) and given:
        return item_of(given[0]) if len(given) == 1 else joined(given)
    if thing is builtins.next and given:
        return joined([item_of(given[0]), *given[1:]])
    if thing is builtins.zip:
        return Typed(list[tuple[Any, ...]]) if not given else _rows([item_of(one) for one in given])
    if thing is builtins.enumerate and given:
        return _rows([Typed(int), item_of(given[0])])
    return None


def _mapping(given: list[Value]) -> Value:
    """Read `dict(pairs)`, and `dict(other)`."""
    shape = shape_of(given[0]) if given else ANY
    if shape.get("type") == "object":
        return given[0]
    pair = item_of(given[0]) if given else Typed(Any)
    if isinstance(pair, Several) and len(pair.items) == 2:
        return Json(mapping(shape_of(pair.items[1])))
    own = types.arguments(pair.kind) if isinstance(pair, Typed) else ()
    return Json(mapping(types.shape_of(own[1]) if len(own) == 2 else ANY))


def _rows(items: list[Value]) -> Value:
    """A list of tuples."""
    if all(isinstance(one, Typed) for one in items):
        kinds = tuple(one.kind for one in items if isinstance(one, Typed))
        return Typed(list[tuple[kinds]])  # type: ignore[valid-type]
    return Several((Several(tuple(items)),))


def _list(item: Value) -> Value:
    if isinstance(item, Typed) and item.kind is not Any:
        return Typed(list[item.kind])
    return Json(array(shape_of(item)))


def of_method(owner: Value, name: str, given: list[Value]) -> Value | None:
    """Return the result of a method of Python's types; None for others."""
    shape = shape_of(owner)
    if shape.get("type") == "object":
        return _of_mapping(owner, shape, name, given)
    if name in _TEXTS.split() and shape in (TEXT, ANY):
        return Typed(str)
    if name in _LINES and shape == TEXT:
        return Typed(list[str])
    if name == "model_dump":
        return Json({"type": "object"})
    return None


def _of_mapping(owner: Value, shape: Shape, name: str, given: list[Value]) -> Value | None:
    own = types.arguments(owner.kind) if isinstance(owner, Typed) else ()
    values = Typed(own[1]) if len(own) == 2 else Json(_values_of(shape))
    key = Typed(own[0]) if len(own) == 2 else Typed(str)
    if name == "keys":
        return Typed(list[str])
    if name == "values":
        return _list(values)
    if name == "items":
        return _rows([key, values])
    if name in ("get", "pop", "setdefault") and given:
        if is_record(shape) and isinstance(given[0], Known):
            values = Json(shape["properties"].get(given[0].object, ANY))
        return joined([values, given[1] if len(given) > 1 else Json(NULL)])
    return None


def _values_of(shape: Shape) -> Shape:
    more = shape.get("additionalProperties", True)
    every = [*shape.get("properties", {}).values(), *([more] if isinstance(more, dict) else [])]
    return ANY if more is True else union(every)
