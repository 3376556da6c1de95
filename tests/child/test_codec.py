"""Dataclasses as JSON and back; what does not fit names its field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fictl.child.codec import Malformed, from_json, from_text, to_json, to_text


@dataclass(frozen=True)
class Inner:
    path: Path
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner
    pair: tuple[int, str] = (1, "a")
    by_name: Mapping[str, tuple[Inner, ...]] = field(default_factory=dict)
    value: float | int | bool | None = None
    words: frozenset[str] = frozenset()
    document: Mapping[str, Any] = field(default_factory=dict)


FULL = Outer(
    "n",
    Inner(Path("/a/b"), (1, 2)),
    (3, "c"),
    {"x": (Inner(Path("p")),)},
    True,
    frozenset({"u", "v"}),
    {"any": [1, {"thing": None}]},
)


@pytest.mark.parametrize(
    "value", [FULL, Outer("", Inner(Path())), Outer("", Inner(Path()), value=2)]
)
def test_a_value_is_the_same_behind_json(value: Outer) -> None:
    read = from_text(Outer, to_text(value))
    assert read == value
    assert type(read.value) is type(value.value)


def test_infinity_crosses() -> None:
    assert from_json(float, from_json(float, float("inf"))) == float("inf")


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("name",), 3, "name: 3 is not of type str"),
        (("inner", "path"), None, "inner.path: None is not of type path"),
        (("inner", "sizes"), [1, "two"], r"inner\.sizes\[1\]: 'two' is not of type int"),
        (("inner", "sizes"), [1.5], r"inner\.sizes\[0\]: 1.5 is not of type int"),
        (("inner", "sizes"), [True], r"inner\.sizes\[0\]: True is not of type int"),
        (("pair",), [1], "pair: 1 values, 2 are needed"),
        (("by_name",), [], "by_name: .* is not of type object"),
        (("value",), "s", "value: 's' is not of type float"),
        (("inner",), [], "inner: .* is not of type Inner"),
        (("other",), 1, "other: Outer has no such field"),
    ],
)
def test_wrong_json_is_an_error_that_names_the_field(path, value, problem) -> None:
    document = to_json(FULL)
    place = document
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises(Malformed, match=problem):
        from_json(Outer, document)


def test_a_field_that_is_missing_is_named() -> None:
    with pytest.raises(Malformed, match="inner: Outer needs this field"):
        from_json(Outer, {"name": "n"})
    with pytest.raises(Malformed, match=r"inner\.path: Inner needs this field"):
        from_json(Outer, {"name": "n", "inner": {}})


def test_a_type_that_json_does_not_carry_is_the_authors_mistake() -> None:
    with pytest.raises(TypeError, match="complex"):
        from_json(complex, 1, "z")
