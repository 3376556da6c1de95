"""Value: an expression in C++, its type, and how tightly its parts hold together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum


class Type(IntEnum):
    """Types of Python's numbers, each holding those before it; in C++ int and float have 32 bits."""

    BOOL = 0
    INT = 1
    FLOAT = 2

    @property
    def cpp(self) -> str:
        return ("bool", "int", "float")[self]


# How tightly an operator binds in C++, the least first.
CHOICE, OR, AND, BIT_OR, BIT_XOR, BIT_AND, EQUAL, ORDER, SUM, PRODUCT, UNARY, ATOM = range(12)


@dataclass(frozen=True)
class Value:
    """`headers` are those of fictl/device/ that it needs.

    A uniform one is the same wherever the function is evaluated, as literals and scalars are. An
    inexact one has last digits that mean nothing, so that a division may be a product. `divisor` is
    what it is divided by where that was made before: the inverse of a fraction, the FloorDivisor of
    a whole number.
    """

    text: str
    type: Type
    strength: int = ATOM
    headers: frozenset[str] = frozenset()
    uniform: bool = False
    inexact: bool = False
    divisor: str = ""

    def within(self, least: int) -> str:
        """Return its text, in parentheses if it binds less tightly than what is around it."""
        return f"({self.text})" if self.strength < least else self.text

    @property
    def as_condition(self) -> Value:
        """Return it as a condition, as Python's `if` does."""
        if self.type is Type.BOOL:
            return self
        zero = "0.0f" if self.type is Type.FLOAT else "0"
        return combined(f"{self.within(EQUAL + 1)} != {zero}", Type.BOOL, EQUAL, [self])

    @property
    def as_float(self) -> Value:
        """Return it as a float, where C++ would divide whole numbers."""
        if self.type is Type.FLOAT:
            return self
        return combined(f"static_cast<float>({self.text})", Type.FLOAT, ATOM, [self])


def combined(
    text: str, kind: Type, strength: int, parts: Sequence[Value], headers: Iterable[str] = ()
) -> Value:
    """Combine parts into a value that needs these headers besides theirs."""
    needed = frozenset(headers).union(*(part.headers for part in parts))
    uniform = all(part.uniform for part in parts)
    return Value(text, kind, strength, needed, uniform, any(part.inexact for part in parts))
