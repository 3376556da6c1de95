"""Sizes for the cases of an op from a definition: such as its constraints allow."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from fictl.errors import UsageError
from fictl.scaffold.new.defined.read import Defined
from fictl.trace.expression import evaluate, names_in

_SMALL = (1, 2, 3, 4, 5, 7, 8, 16, 33, 64, 128)
_LARGE = (512, 1024, 4096, 16384)
_TRIES = 3000
_WANTED = 3
_MOST, _MOST_OF_SMALL = 1 << 28, 1 << 20


def case_sizes(defined: Defined) -> list[dict[str, int]]:
    """Some that tests are quick with, and one that is as large as a user's."""
    small_sizes = sorted(_allowed(defined, _SMALL), key=lambda choice: choice[1])
    quick = [sizes for sizes, elements in small_sizes if elements <= _MOST_OF_SMALL]
    # What a definition fixes may be large by itself.
    small = quick or [sizes for sizes, elements in small_sizes[:_WANTED] if elements <= _MOST]
    large = [choice for choice in _allowed(defined, _LARGE) if choice[1] <= _MOST]
    if not small and not large:
        text = "; ".join(defined.constraints) or "its sizes are too large"
        raise UsageError(
            f"{defined.path}: no sizes were found that {defined.definition.name} allows",
            f"it demands {text}",
        )
    chosen = [*_spread(small), *([max(large, key=lambda choice: choice[1])[0]] if large else [])]
    return [dict(items) for items in dict.fromkeys(tuple(choice.items()) for choice in chosen)]


def _spread(choices: list[dict[str, int]]) -> list[dict[str, int]]:
    """Pick sizes spread over the choices, from the smallest on."""
    step = max(1, len(choices) // _WANTED)
    return choices[::step][:_WANTED]


def _allowed(defined: Defined, sizes: tuple[int, ...]) -> Iterator[tuple[dict[str, int], int]]:
    for values in _tries(len(defined.free), sizes):
        given = dict(zip(defined.free, values, strict=True))
        elements = _elements(defined, given)
        if elements:
            yield given, elements


def _tries(axes: int, sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The same for all axes first."""
    yield from ((size,) * axes for size in sizes)
    if len(sizes) ** axes <= _TRIES:
        yield from product(sizes, repeat=axes)
        return
    draw = random.Random(0)  # noqa: S311  (no secret)
    yield from (tuple(draw.choice(sizes) for _ in range(axes)) for _ in range(_TRIES))


def _elements(defined: Defined, given: Mapping[str, int]) -> int:
    """Count the elements of all tensors; 0 if the sizes are not allowed."""
    definition = defined.definition
    try:
        numbers = _numbers(defined)
        known = definition.sizes(_with_equations(defined, {**given, **numbers}), numbers)
    except UsageError:
        return 0
    specs = (*defined.tensors.values(), *definition.outputs.values())
    return sum(
        math.prod(known[a] if a in known else int(a) for a in spec.shape or ()) for spec in specs
    )


def _with_equations(defined: Defined, given: Mapping[str, Any]) -> dict[str, int]:
    definition = defined.definition
    known: dict[str, Any] = {**definition.const_axes, **given}
    waiting = dict(defined.expressions)
    while ready := [axis for axis, text in waiting.items() if names_in(text) <= {*known}]:
        known |= {axis: int(evaluate(waiting.pop(axis), known)) for axis in ready}
    return {axis: size for axis, size in known.items() if axis in definition.var_axes}


def _numbers(defined: Defined) -> dict[str, Any]:
    """Values that tests pass for inputs that are numbers and not sizes."""
    definition = defined.definition
    names = (n for n in definition.inputs if n not in defined.tensors and n not in definition.axes)
    return {name: defined.scalar(name).value for name in names}
