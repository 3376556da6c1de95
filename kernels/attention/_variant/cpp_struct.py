"""The C++ struct of a variant: its name, its fields and what makes one from scalars."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fictl.op.translate import Type, Value, identifier

from .scalar import Scalar

# What a scalar cannot be called in C++: these are in every variant.
_TAKEN = frozenset(
    ["at", "dim", "keeps", "logit", "made", "of", "output", "scalars", "transform", "value"]
)
_DIVISORS = {Type.FLOAT: "inverse_of_", Type.INT: "by_"}
_DIVISOR_TYPES = {Type.FLOAT: "float", Type.INT: "fictl::device::FloorDivisor"}


class Fields:
    """Scalars as fields of a struct, and divisors that the host makes for divisions by them."""

    def __init__(self, scalars: Sequence[Scalar]) -> None:
        self._scalars = scalars
        self._names: dict[str, str] = {}
        for scalar in scalars:
            self._names[scalar.name] = identifier(scalar.name, _TAKEN | {*self._names.values()})

    def values(self) -> dict[str, Value]:
        """Map scalars to the C++ that reads them."""
        return {
            scalar.name: Value(
                self._names[scalar.name], scalar.type, uniform=True, divisor=self._divisor(scalar)
            )
            for scalar in self._scalars
        }

    def members(self, text: str) -> list[str]:
        """Declare the fields and the divisors that `text` uses; empty without scalars."""
        if not self._scalars:
            return []
        members = [f"{scalar.type.cpp} {self._names[scalar.name]};" for scalar in self._scalars]
        members += [
            f"{_DIVISOR_TYPES[scalar.type]} {name};" for scalar, name in self._divisors(text)
        ]
        return ["\n".join(f"  {member}" for member in members)]

    def maker(self, name: str, text: str) -> str:
        """Define `of`, which makes a struct of the scalars' values."""
        if not self._scalars:
            return f"  static {name} of(const double*) {{ return {{}}; }}"
        inside = "\n".join([*self._assigned(), *self._assigned_divisors(text)])
        return (
            f"  static {name} of(const double* scalars) {{\n    {name} made;\n{inside}\n"
            "    return made;\n  }"
        )

    def _divisor(self, scalar: Scalar) -> str:
        """Name the divisor of a scalar; '' where its type has none."""
        start = _DIVISORS.get(scalar.type)
        taken = frozenset(self._names.values())
        return identifier(f"{start}{self._names[scalar.name]}", taken) if start else ""

    def _divisors(self, text: str) -> list[tuple[Scalar, str]]:
        named = ((scalar, self._divisor(scalar)) for scalar in self._scalars)
        return [
            (scalar, name) for scalar, name in named if name and re.search(rf"\b{name}\b", text)
        ]

    def _assigned(self) -> Iterator[str]:
        for number, scalar in enumerate(self._scalars):
            value = f"scalars[{number}]"
            is_bool = scalar.type is Type.BOOL
            cast = f"{value} != 0" if is_bool else f"static_cast<{scalar.type.cpp}>({value})"
            yield f"    made.{self._names[scalar.name]} = {cast};"

    def _assigned_divisors(self, text: str) -> Iterator[str]:
        for scalar, name in self._divisors(text):
            field = f"made.{self._names[scalar.name]}"
            inverse, divisor = f"1.0f / {field}", f"fictl::device::FloorDivisor({field})"
            yield f"    made.{name} = {inverse if scalar.type is Type.FLOAT else divisor};"


def struct_name(function: str) -> str:
    """Name the struct: sliding_window -> SlidingWindowVariant, apart from what CUDA has."""
    words = re.findall(r"[A-Za-z0-9]+", function)
    camel = "".join(word[:1].upper() + word[1:] for word in words)
    return f"{camel}Variant" if camel[:1].isalpha() else "UserVariant"
