"""Scalars of variants: numbers that run() takes besides tensors."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from operator import index

from fictl.op.translate import Type

_INT32 = range(-(1 << 31), 1 << 31)


@dataclass(frozen=True)
class Scalar:
    """A number that run() takes besides the tensors. `default` is None where it has to be given."""

    name: str
    type: Type = Type.FLOAT
    default: float | int | bool | None = None


def scalar_value(op: str, scalar: Scalar, value: object) -> float:
    """Check a value, and return it as the double that the C++ reads."""
    if value is None:
        raise TypeError(
            f"{op}: scalar {scalar.name!r} is missing; pass a {scalar.type.name.lower()}"
        )
    if not isinstance(value, Real):
        raise TypeError(
            f"{op}: scalar {scalar.name!r} is a {type(value).__name__}; it is one number"
        )
    if scalar.type is not Type.INT:
        return float(value)
    try:
        whole = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"{op}: scalar {scalar.name!r} is {value}; the variant says that it is an int"
        ) from None
    if whole not in _INT32:
        raise ValueError(f"{op}: scalar {scalar.name!r} is {whole}, which does not fit 32 bits")
    return float(whole)
