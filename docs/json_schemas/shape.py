"""Shapes: JSON Schemas of values, and what becomes of them where values are joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Shape = dict[str, Any]

ANY: Shape = {}
NULL: Shape = {"type": "null"}
TEXT: Shape = {"type": "string"}


def array(items: Shape) -> Shape:
    return {"type": "array", "items": items} if items else {"type": "array"}


def mapping(values: Shape) -> Shape:
    """Make the shape of an object whose names are data."""
    return {"type": "object", "additionalProperties": values or True}


def record(properties: dict[str, Shape], optional: Iterable[str] = (), more: Any = False) -> Shape:
    """Make the shape of an object with these names; `more` is that of others, or False."""
    required = sorted(set(properties) - {*optional})
    return {
        "type": "object",
        "properties": dict(sorted(properties.items())),
        "required": required,
        "additionalProperties": more,
    }


def is_record(shape: Shape) -> bool:
    return "properties" in shape


def is_open(shape: Shape) -> bool:
    """True where nothing is known of the value."""
    return not shape or shape in (array(ANY), mapping(ANY))


def union(shapes: Iterable[Shape]) -> Shape:
    """Join alternatives: records become one, with the names that all have required."""
    found: list[Shape] = []
    for shape in shapes:
        for one in shape.get("anyOf", [shape]):
            if one == ANY:
                return ANY
            _add(found, one)
    return found[0] if len(found) == 1 else {"anyOf": found} if found else ANY


def _add(found: list[Shape], one: Shape) -> None:
    for index, other in enumerate(found):
        joined = _joined(other, one)
        if joined is not None:
            found[index] = joined
            return
    found.append(one)


def _joined(one: Shape, other: Shape) -> Shape | None:
    if one == other:
        return one
    if {one.get("type"), other.get("type")} == {"integer", "number"}:
        return {"type": "number"}
    if one.get("type") != other.get("type"):
        return None
    if one.get("type") == "array":
        # An empty list says nothing of items.
        return array(union(filter(None, (one.get("items"), other.get("items")))))
    if one.get("type") == "object":
        return _joined_objects(one, other)
    return {"type": "string"} if one.get("type") == "string" else None


def _joined_objects(one: Shape, other: Shape) -> Shape:
    if not (is_record(one) and is_record(other)):
        record_, rest = (one, other) if is_record(one) else (other, one)
        if is_record(record_):
            properties = record_["properties"]
            return record(properties, properties, _more((record_, rest)))
        return mapping(_values(_more((one, other))))
    names = {**one["properties"], **other["properties"]}
    properties = {
        name: union(
            shape["properties"][name] for shape in (one, other) if name in shape["properties"]
        )
        for name in names
    }
    required = {*one["required"]} & {*other["required"]}
    return record(properties, set(names) - required, _more((one, other)))


def merged(shapes: Sequence[Shape]) -> Shape:
    """Return the shape of `{**a, **b}`: later values replace earlier ones."""
    properties: dict[str, Shape] = {}
    optional: set[str] = set()
    more: Any = False
    for shape in shapes:
        if not is_record(shape):
            more = more or _of_others(shape)
            continue
        required = {*shape["required"]}
        for name, value in shape["properties"].items():
            if name in required:
                properties[name] = value
                optional.discard(name)
            else:
                optional |= {name} - set(properties)
                properties[name] = union(
                    [properties[name], value] if name in properties else [value]
                )
        more = more or shape["additionalProperties"]
    return record(properties, optional, more)


def without(shape: Shape, names: Iterable[str]) -> Shape:
    properties = {name: one for name, one in shape["properties"].items() if name not in {*names}}
    return record(properties, set(properties) - {*shape["required"]}, shape["additionalProperties"])


def all_optional(shape: Shape) -> Shape:
    return record(shape["properties"], shape["properties"], shape["additionalProperties"])


def elements(shape: Shape) -> Shape:
    """Return the shape of what iteration over the value yields."""
    if shape.get("type") == "array":
        items: Shape = shape.get("items", ANY)
        return items
    return TEXT if shape.get("type") in ("object", "string") else ANY


def _of_others(shape: Shape) -> Any:
    more = shape.get("additionalProperties", True) if shape.get("type") == "object" else True
    return True if more == ANY else more


def _more(shapes: Iterable[Shape]) -> Any:
    every = [more for shape in shapes if (more := _of_others(shape)) is not False]
    if not every:
        return False
    return True if True in every else union(every) or True


def _values(more: Any) -> Shape:
    return more if isinstance(more, dict) else ANY
