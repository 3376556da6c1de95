"""Sizes that the tests of a brought kernel try: tiny, odd, and no multiple of a vector or a warp."""

from __future__ import annotations

import ast
import re
from math import lcm

from fictl.scaffold.new.signature import Axis, Signature

# Of the first axis, of those between, of the last one. They differ, so that no two can be mixed up.
_MANY = ((1, 1, 1), (3, 2, 7), (5, 3, 33), (2, 1, 64), (17, 2, 129))
_ALONE = (1, 2, 7, 33, 64, 129, 250)
_USUAL = (4, 3, 64)
_USUAL_ALONE = 96


def free_axes(signature: Signature) -> tuple[Axis, ...]:
    """The axes whose sizes are the caller's choice."""
    return tuple(axis for axis in signature.axes if not axis.size and not axis.text)


def edge_sizes(signature: Signature) -> tuple[tuple[int, ...], ...]:
    """Sizes of the free axes, for each test."""
    axes = free_axes(signature)
    if len(axes) == 1:
        sizes: list[tuple[int, ...]] = [(_possible(signature, axes[0], n),) for n in _ALONE]
    else:
        sizes = [_spread(signature, axes, some) for some in _MANY]
    return tuple(dict.fromkeys(sizes))


def usual_sizes(signature: Signature) -> tuple[int, ...]:
    """Sizes of the free axes where a test needs some."""
    axes = free_axes(signature)
    if len(axes) == 1:
        return (_possible(signature, axes[0], _USUAL_ALONE),)
    return _spread(signature, axes, _USUAL)


def _spread(
    signature: Signature, axes: tuple[Axis, ...], sizes: tuple[int, int, int]
) -> tuple[int, ...]:
    first, between, last = sizes
    chosen = (first, *[between] * (len(axes) - 2), last)[: len(axes)]
    return tuple(_possible(signature, a, size) for a, size in zip(axes, chosen, strict=True))


def _possible(signature: Signature, axis: Axis, size: int) -> int:
    """The next size that is a multiple of what outputs divide it by, and not below the fixed sizes
    that outputs alone have: the k of a top-k, of so many values at least. An index is 0 or 1.
    """
    named = {a.name for tensor in signature.inputs for a in tensor.axes}
    fixed = [a.size for a in signature.axes if a.size and a.name not in named]
    is_row = axis == free_axes(signature)[0] and len(free_axes(signature)) > 1
    indices = 2 if any("int" in tensor.dtype for tensor in signature.inputs) else 1
    least = max(indices, *(() if is_row else fixed), 1)
    unit = lcm(*_divisors(signature, axis.name))
    return -(-max(size, least) // unit) * unit


def _divisors(signature: Signature, name: str) -> list[int]:
    texts = (ast.unparse(ast.parse(axis.text)) for axis in signature.axes if axis.text)
    pattern = re.compile(rf"\b{re.escape(name)} // ([1-9]\d*)")
    return [int(divisor) for text in texts for divisor in pattern.findall(text)]
