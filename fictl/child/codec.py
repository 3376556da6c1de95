"""Conversion of frozen dataclasses to JSON and back; an error names the field that does not fit.

This package uses only the standard library, so not pydantic, which reads files' schemas.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


class Malformed(ValueError):
    """JSON that does not have the expected type."""


def to_text(value: object) -> str:
    """Encode as one line of JSON."""
    return json.dumps(to_json(value))


def from_text(kind: type[T], text: str | bytes) -> T:
    """Decode a line of JSON; raise Malformed, or JSONDecodeError, which is also a ValueError."""
    value: T = from_json(kind, json.loads(text))
    return value


def to_json(value: object) -> Any:
    """Convert dataclasses and mappings to objects; tuples, lists and sets to arrays; paths to
    strings.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in _settable(type(value))}
    if isinstance(value, Mapping):
        return {name: to_json(entry) for name, entry in value.items()}
    if isinstance(value, frozenset | set):
        return [to_json(entry) for entry in sorted(value)]
    if isinstance(value, list | tuple):
        return [to_json(entry) for entry in value]
    return str(value) if isinstance(value, Path) else value


def from_json(kind: Any, value: Any, field: str = "") -> Any:
    """Convert `value` to `kind`, a type or an annotation; `field` is its place, for errors."""
    if kind is Any:
        return value
    if is_dataclass(kind):
        return _read_dataclass(kind, value, field)
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _read_union(get_args(kind), value, field)
    read = _READERS.get(origin or kind)
    if read is None:
        raise TypeError(f"{field or 'the message'} has the type {kind}, which JSON does not carry")
    return read(get_args(kind), value, field)


@cache
def _settable(kind: type) -> tuple[Field[Any], ...]:
    return tuple(field for field in fields(kind) if field.init)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _read_dataclass(kind: Any, value: Any, field: str) -> Any:
    """Read a dataclass. Fields with a default are optional; unknown fields are an error."""
    _require(isinstance(value, dict), kind.__name__, value, field)
    known, types = _settable(kind), _hints(kind)
    unknown = sorted({*value} - {entry.name for entry in known})
    if unknown:
        raise Malformed(f"{_at(field, unknown[0])}: {kind.__name__} has no such field")
    for entry in known:
        if entry.name not in value and entry.default is entry.default_factory is MISSING:
            raise Malformed(f"{_at(field, entry.name)}: {kind.__name__} needs this field")
    read = {name: from_json(types[name], entry, _at(field, name)) for name, entry in value.items()}
    return kind(**read)


def _read_union(kinds: Sequence[Any], value: Any, field: str) -> Any:
    if type(value) in kinds:  # Exact type first: True would also pass as an int.
        return value
    problems = []
    for kind in kinds:
        if kind is not NoneType:
            try:
                return from_json(kind, value, field)
            except Malformed as error:
                problems.append(str(error))
    raise Malformed("; or ".join(problems))


def _read_tuple(kinds: Sequence[Any], value: Any, field: str) -> tuple[Any, ...]:
    _require(isinstance(value, list), "array", value, field)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = [kinds[0]] * len(value)
    if len(kinds) != len(value):
        raise Malformed(f"{field}: {len(value)} values, {len(kinds)} are needed")
    pairs = enumerate(zip(kinds, value, strict=True))
    return tuple(from_json(kind, entry, f"{field}[{i}]") for i, (kind, entry) in pairs)


def _read_entries(kinds: Sequence[Any], value: Any, field: str) -> tuple[Any, ...]:
    return _read_tuple((kinds[0], ...), value, field)


def _read_mapping(kinds: Sequence[Any], value: Any, field: str) -> dict[str, Any]:
    _require(isinstance(value, dict), "object", value, field)
    return {name: from_json(kinds[1], entry, _at(field, name)) for name, entry in value.items()}


def _read_number(kinds: Sequence[Any], value: Any, field: str) -> float:
    _require(isinstance(value, int | float) and not isinstance(value, bool), "float", value, field)
    return float(value)


def _read_int(kinds: Sequence[Any], value: Any, field: str) -> int:
    # JSON has a single number type: 2.0 is a whole number.
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    _require(is_whole and not isinstance(value, bool), "int", value, field)
    return int(value)


def _read_path(kinds: Sequence[Any], value: Any, field: str) -> Path:
    _require(isinstance(value, str), "path", value, field)
    return Path(value)


def _exactly(kind: type) -> Callable[[Sequence[Any], Any, str], Any]:
    def read(kinds: Sequence[Any], value: Any, field: str) -> Any:
        _require(isinstance(value, kind), kind.__name__, value, field)
        return value

    return read


_READERS: dict[Any, Callable[[Sequence[Any], Any, str], Any]] = {
    str: _exactly(str),
    bool: _exactly(bool),
    NoneType: _exactly(NoneType),
    int: _read_int,
    float: _read_number,
    Path: _read_path,
    tuple: _read_tuple,
    list: lambda kinds, value, field: [*_read_entries(kinds, value, field)],
    frozenset: lambda kinds, value, field: frozenset(_read_entries(kinds, value, field)),
    Sequence: _read_entries,
    Mapping: _read_mapping,
    dict: _read_mapping,
}


def _require(fits: bool, expected: str, value: Any, field: str) -> None:
    if not fits:
        raise Malformed(f"{field or 'the message'}: {value!r:.80} is not of type {expected}")


def _at(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name
