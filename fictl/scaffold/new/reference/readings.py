"""Readings of an output's size in one call: what it may be of the inputs' axes, or a fixed size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

# Sizes up to this one are usual constants, such as the k of a top-k.
_USUAL_CONSTANTS = 16


@dataclass(frozen=True)
class SizeReading:
    """`axis` as --output has it: `hidden`, `hidden_over_2=hidden // 2`, `k=2`; `base` is the axis
    that it comes from; `fixed` is the axis in its place if the size is the same in every call, where
    that is possible. `is_sure` unless it has to be said.
    """

    axis: str
    base: str = ""
    fixed: str = ""
    is_sure: bool = True

    @property
    def words(self) -> str:
        name, _, value = self.axis.partition("=")
        return f"{value} whatever the sizes are" if value.isdecimal() else value or name


def formulas(size: int, names: Mapping[int, str]) -> Iterator[SizeReading]:
    """Sizes that follow from the axes, the simplest first."""
    for other, name in names.items():
        for factor in (2, 4, 8):
            if other == size * factor:
                yield SizeReading(f"{name}_over_{factor}={name} // {factor}", name)
            if size == other * factor:
                yield SizeReading(f"{name}_times_{factor}={name} * {factor}", name)
    for a, first in names.items():
        for b, second in names.items():
            if a * b == size:
                yield SizeReading(f"{first}_{second}={first} * {second}", first)
            if a + b == size:
                yield SizeReading(f"{first}_plus_{second}={first} + {second}", first)


def readings(size: int, names: Mapping[int, str], beside: str) -> list[SizeReading]:
    """All readings of a size in an example; the first is the likeliest. `beside` is the axis in the
    same place of the inputs.
    """
    possible = list(formulas(size, names))
    in_place = [reading for reading in possible if reading.base == beside]
    likely = in_place or possible
    if size > _USUAL_CONSTANTS and len(likely) == 1:
        return likely
    return [*possible, SizeReading(f"{fixed_name(names)}={size}")]


def fixed_name(names: Mapping[int, str]) -> str:
    """A name for an axis of a fixed size."""
    return next(name for name in ("k", "width", "fixed") if name not in names.values())


def repeated(axes: Sequence[str]) -> str:
    """An axis that a tensor has twice, or empty."""
    return next((axis for axis in axes if axes.count(axis) > 1), "")
