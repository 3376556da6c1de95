"""Value: a C++ expression, its type, and its operator precedence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum


class Type(IntEnum):
    """Python's number types, each a superset of the one before; 32 bits in C++."""

    BOOL = 0
    INT = 1
    FLOAT = 2

    @property
    def cpp(self) -> str:
        return ("bool", "int", "float")[self]


# Precedence of C++ operators, lowest first.
CHOICE, OR, AND, BIT_OR, BIT_XOR, BIT_AND, EQUAL, ORDER, SUM, PRODUCT, UNARY, ATOM = range(12)


@dataclass(frozen=True)
class Value:
    """A C++ expression.

    headers: those of fictl/device/ that it needs. uniform: the same for all elements, like literals
    and scalars. inexact: its last digits do not matter, so that x / y may be x * (1 / y). divisor:
    prepared C++ value for divisions by this one: a float's inverse, or an int's FloorDivisor.
    """

    text: str
    type: Type
    strength: int = ATOM
    headers: frozenset[str] = frozenset()
    uniform: bool = False
    inexact: bool = False
    divisor: str = ""

    def within(self, least: int) -> str:
        """Return the text, in parentheses if its precedence is below `least`."""
        return f"({self.text})" if self.strength < least else self.text

    @property
    def as_condition(self) -> Value:
        """The value as a condition, as Python's `if` converts it."""
        if self.type is Type.BOOL:
            return self
        zero = "0.0f" if self.type is Type.FLOAT else "0"
        return combined(f"{self.within(EQUAL + 1)} != {zero}", Type.BOOL, EQUAL, [self])

    @property
    def as_float(self) -> Value:
        """The value as a float, so that C++ does not divide integers."""
        if self.type is Type.FLOAT:
            return self
        return combined(f"static_cast<float>({self.text})", Type.FLOAT, ATOM, [self])


def combined(
    text: str, kind: Type, strength: int, parts: Sequence[Value], headers: Iterable[str] = ()
) -> Value:
    """Make a value from text and its parts; it needs the parts' headers and these."""
    needed = frozenset(headers).union(*(part.headers for part in parts))
    uniform = all(part.uniform for part in parts)
    return Value(text, kind, strength, needed, uniform, any(part.inexact for part in parts))
