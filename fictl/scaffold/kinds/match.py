"""Holding a signature against what a kind takes: `x:*rows,cols` is any tensor with a row."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fictl.dtype import parse_dtype
from fictl.errors import UsageError
from fictl.scaffold.kinds.kind import Kind
from fictl.scaffold.new.signature import Signature, Tensor

Bound = dict[str, tuple[str, ...]]

_WORD = re.compile(r"[A-Za-z_]\w*")


def match(kind: Kind, signature: Signature) -> Bound:
    """The axes that the names in the kind's patterns stand for; an error that says what it takes."""
    more = signature.inputs[len(kind.inputs) :]
    bound = bind(kind.inputs, signature.inputs[: len(kind.inputs)])
    fits = bound is not None and all(
        any(_fits(pattern, tensor, bound) for pattern in kind.more) for tensor in more
    )
    if not fits or bound is None or bind(kind.outputs, signature.outputs, bound) is None:
        raise UsageError(f"kind {kind.name} cannot be {_described(signature)}", wanted(kind))
    return bound


def bind(
    patterns: Sequence[str], tensors: Sequence[Tensor], bound: Bound | None = None
) -> Bound | None:
    """Tensors by the patterns in the same place; None where one is another shape."""
    bound = {} if bound is None else bound
    if len(patterns) != len(tensors):
        return None
    fits = all(_fits(p, t, bound) for p, t in zip(patterns, tensors, strict=True))
    return bound if fits else None


def expand(pattern: str, bound: Bound | None = None) -> str:
    """The pattern as a tensor: `out:*rows,cols` is out:rows,cols, or has the axes that are bound.
    Of several dtypes, as in `q:n:e4m3|i8`, it has the first.
    """
    name, axes, *dtypes = pattern.split(":")
    parts = (_expanded(axis, bound or {}) for axis in axes.split(","))
    return ":".join([name, ",".join(parts), *(text.partition("|")[0] for text in dtypes)])


def _expanded(axis: str, bound: Bound) -> str:
    name, equals, value = axis.lstrip("*").partition("=")
    if not equals:
        return ",".join(bound.get(name, (name,)))
    return f"{name}={re.sub(_WORD, lambda word: ','.join(bound.get(word[0], (word[0],))), value)}"


def _fits(pattern: str, tensor: Tensor, bound: Bound) -> bool:
    """Binds what the pattern names for the first time."""
    axes, dtypes = _shape(pattern)
    if tensor.dtype not in dtypes:
        return False
    left = list(tensor.axis_names)
    bindings: Bound = {}
    for axis in axes:
        size = len(left) - (len(axes) - len(bindings) - 1) if axis.startswith("*") else 1
        if not 0 < size <= len(left):
            return False
        bindings[axis.lstrip("*")] = tuple(left[:size])
        left = left[size:]
    if left or any(bound.get(name, names) != names for name, names in bindings.items()):
        return False
    bound.update(bindings)
    return True


def _shape(pattern: str) -> tuple[list[str], list[str]]:
    """Axes of `x:*rows,cols`, or of `*rows,cols` alone, and its dtypes: "" is that of the call."""
    name, _, rest = pattern.partition(":")
    axes, _, dtypes = (rest or name).partition(":")
    names = [parse_dtype(word).name for word in dtypes.split("|")] if dtypes else [""]
    return [axis.partition("=")[0] for axis in axes.split(",")], names


def _described(signature: Signature) -> str:
    inputs = ", ".join(map(str, signature.inputs)) or "nothing"
    return f"{inputs} -> {', '.join(map(str, signature.outputs)) or 'nothing'}"


def wanted(kind: Kind) -> str:
    """Describe the signatures that a kind accepts."""
    more = f", and more of {' or '.join(kind.more)}" if kind.more else ""
    return f"it takes {', '.join(kind.inputs)}{more} -> {', '.join(kind.outputs)}"
