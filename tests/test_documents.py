"""Schemas follow from code: what its expressions, types and branches say of a document."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))

from json_schemas.read import Reader
from json_schemas.shape import NULL, TEXT, array, mapping, record, union
from json_schemas.values import shape_of

WHOLE, NUMBER, TRUTH = {"type": "integer"}, {"type": "number"}, {"type": "boolean"}


@dataclass
class Part:
    name: str
    sizes: dict[str, int] = field(default_factory=dict)
    path: Path | None = None


@dataclass
class Whole:
    parts: tuple[Part, ...]
    error: str | None = None

    @property
    def count(self) -> int:
        return len(self.parts)

    def to_dict(self) -> dict[str, Any]:
        return {"parts": [asdict(part) for part in self.parts], "count": self.count}



def _literal(whole: Whole) -> dict[str, Any]:
    return {
        "a": 1,
        "b": round(2.5, 1),
        "c": [f"{part.name}" for part in whole.parts],
        "d": not whole,
    }


def _spread(whole: Whole) -> dict[str, Any]:
    data = {**whole.to_dict(), "error": whole.error}
    if whole.error:
        data["hint"] = "what to do"
    del data["parts"]
    return data


def _filtered(whole: Whole) -> dict[str, Any]:
    return {name: value for name, value in whole.to_dict().items() if name != "count"}


def _either(whole: Whole) -> dict[str, Any]:
    if whole.count > 1:
        return {"a": 1, "b": "text"}
    return {"a": 1.5}


def _by_name(whole: Whole) -> dict[str, Any]:
    return {part.name: part.sizes for part in whole.parts}


PART = record({"name": TEXT, "sizes": mapping(WHOLE), "path": {"anyOf": [TEXT, NULL]}})
MEANT = {
    _literal: record({"a": WHOLE, "b": NUMBER, "c": array(TEXT), "d": TRUTH}),
    Whole.to_dict: record({"parts": array(PART), "count": WHOLE}),
    _spread: record({"count": WHOLE, "error": union([TEXT, NULL]), "hint": TEXT}, ["hint"]),
    _filtered: record({"parts": array(PART)}),
    _either: record({"a": NUMBER, "b": TEXT}, ["b"]),
    _by_name: mapping(mapping(WHOLE)),
}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Read functions of this file as if it were fictl's."""
    monkeypatch.setitem(sys.modules, "fictl.read_by_a_test", sys.modules[__name__])
    for thing in (Part, Whole, Whole.to_dict, Whole.count.fget, *MEANT):
        monkeypatch.setattr(thing, "__module__", "fictl.read_by_a_test")

    def of(function: Any) -> Any:
        from json_schemas.values import Typed

        return shape_of(Reader({}).returned(function, [Typed(Whole)], {}))

    return of


@pytest.mark.parametrize("function", MEANT, ids=lambda function: function.__name__)
def test_a_function_that_makes_a_document_has_its_schema(read, function) -> None:
    assert read(function) == MEANT[function]
