"""Part: base class of a dataset's documents and of their parts."""

from __future__ import annotations

import keyword
import math
import re
import unicodedata
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

# NaN and infinities are written as words; every spelling of flashinfer-bench is read.
_WORD = re.compile(r"\s*[+-]?(nan|inf|infinity)\s*", re.IGNORECASE | re.ASCII)
_LARGEST = (1 << 63) - 1  # As torch's sizes are.
# Reserved in expressions, in --axes and in JSON.
_TAKEN = {"nan", "inf", "infinity"}


class Part(BaseModel):
    """Keeps unknown fields, and writes them as they were."""

    model_config = ConfigDict(frozen=True, extra="allow", ser_json_inf_nan="strings")

    # Fields whose null is written; other fields that are None are left out of JSON.
    says_null: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap", when_used="json")
    def _as_json(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields, spoken = type(self).model_fields, type(self).says_null
        return {
            name: _said(value)
            for name, value in handler(self).items()
            if value is not None or name not in fields or name in spoken
        }


def _said(value: Any) -> Any:
    """Encode NaN and infinities as text, also in unknown fields, which pydantic leaves as they are."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {name: _said(item) for name, item in value.items()}
    return [_said(item) for item in value] if isinstance(value, list | tuple) else value


def scalar(value: Any) -> bool | int | float:
    """Accept a number, or the words for NaN and infinity, which JSON lacks."""
    value = _words(value)
    if not isinstance(value, bool | int | float):
        raise ValueError("expected a number, true or false")  # noqa: TRY004 - as pydantic wants
    return value


def _words(value: Any) -> Any:
    return float(value) if isinstance(value, str) and _WORD.fullmatch(value) else value


def _not_negative(value: float) -> float:
    if value < 0:
        raise ValueError("expected a number from 0, or NaN")
    return value


def _name(value: str) -> str:
    if not value.isidentifier() or unicodedata.normalize("NFKC", value) != value:
        raise ValueError("a name has letters, digits and _, and begins with no digit")
    if keyword.iskeyword(value) or value.casefold() in _TAKEN:
        raise ValueError("this word is reserved: choose another name")
    return value


def _title(value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise ValueError("a name needs printable characters other than spaces")
    return value


def _inside(value: str) -> str:
    """Check a relative path; links are checked when the file is opened."""
    if "\\" in value or not value.isprintable():
        raise ValueError("paths have / between their parts, and printable characters only")
    parts = value.removeprefix("./").split("/")
    if value.startswith("/") or re.match(r"[A-Za-z]:", value):
        raise ValueError("an absolute path; it must be relative")
    if not all(parts) or {".", ".."} & {*parts}:
        raise ValueError("no part of a path may be empty, . or ..")
    return value


NonEmpty: TypeAlias = Annotated[str, Field(min_length=1)]
NotNegative: TypeAlias = Annotated[float, BeforeValidator(_words), Field(ge=0, strict=True)]
RealNotNegative: TypeAlias = Annotated[
    float, BeforeValidator(_words), Field(strict=True), AfterValidator(_not_negative)
]
# Sizes: those of a workload may be 0, those of a definition may not.
Count: TypeAlias = Annotated[int, Field(ge=0, le=_LARGEST, strict=True)]
Size: TypeAlias = Annotated[int, Field(ge=1, le=_LARGEST, strict=True)]
# Name of an axis, an input or an output.
Name: TypeAlias = Annotated[str, Field(max_length=200), AfterValidator(_name)]
# Name of a document: any printable text. fictl.trace.dataset chooses its file name.
Title: TypeAlias = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_title)]
InsidePath: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=1024), AfterValidator(_inside)
]
