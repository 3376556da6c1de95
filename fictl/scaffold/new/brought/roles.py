"""Pairing of a kernel's parameters with an op's arguments: by name, then by place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fictl.errors import UsageError
from fictl.scaffold.new.brought.kernel_source import KernelParameter, KernelSource, listed
from fictl.scaffold.new.brought.launch import unit_of
from fictl.scaffold.new.brought.sizes import Sizes
from fictl.scaffold.new.guess import listed as joined
from fictl.scaffold.new.signature import Scalar, Signature, Tensor

_AFFIXES = re.compile(r"^(?:num|n|total)_|_(?:size|dim|len|count)$|s$")
_COUNTS = ("n", "size", "numel", "count", "total", "length", "len", "elements")


@dataclass(frozen=True)
class Roles:
    """Roles by the kernel's parameter name: a tensor, a number, an axis, or the number of elements."""

    tensors: dict[str, Tensor] = field(default_factory=dict)
    scalars: dict[str, Scalar] = field(default_factory=dict)
    axes: dict[str, str] = field(default_factory=dict)
    counts: frozenset[str] = frozenset()


def assign(source: KernelSource, signature: Signature) -> Roles:
    scalars = _scalars(source, signature)
    sizes = [p for p in source.of("int") if p.name not in scalars]
    axes = {p.name: _size(source, p, signature, len(sizes) == 1) for p in sizes}
    _refuse_unknown(source, signature, [name for name, axis in axes.items() if axis is None])
    counts = frozenset(name for name, axis in axes.items() if not axis)
    named = {name: axis for name, axis in axes.items() if axis}
    return Roles(_tensors(source, signature), scalars, named, counts)


def _tensors(source: KernelSource, signature: Signature) -> dict[str, Tensor]:
    pointers = source.of("pointer")
    tensors = (*signature.inputs, *signature.outputs)
    by_pointer = {p.name: t for p in pointers for t in tensors if t.name == p.name}
    for is_const, among in ((True, signature.inputs), (False, signature.outputs)):
        left = [p for p in pointers if p.name not in by_pointer and p.is_const is is_const]
        open_ = [t for t in among if t not in by_pointer.values()]
        if len(left) != len(open_):
            does = "reads" if is_const else "writes"
            raise UsageError(
                _unpaired(source, f"of what it {does}", left, open_),
                "name its parameters as the reference does, and make const what is only read",
            )
        by_pointer |= dict(zip((p.name for p in left), open_, strict=True))
    written = [
        p.name for p in pointers if not p.is_const and by_pointer[p.name] in signature.inputs
    ]
    if written:
        raise UsageError(
            f"{source.at} may write to its input {', '.join(written)}",
            f"make it const, as in const T* {written[0]}; what is written is an output",
        )
    return by_pointer


def _scalars(source: KernelSource, signature: Signature) -> dict[str, Scalar]:
    numbers = [p for p in source.parameters if p.role in ("float", "int", "bool")]
    by_number = {p.name: s for p in numbers for s in signature.scalars if s.name == p.name}
    for role in ("float", "bool"):
        left = [p for p in numbers if p.role == role and p.name not in by_number]
        open_ = [s for s in signature.scalars if s not in by_number.values() and s.type == role]
        if len(left) != len(open_):
            raise UsageError(
                _unpaired(source, "of its numbers", left, open_),
                "name them as the reference or the expression does",
            )
        by_number |= dict(zip((p.name for p in left), open_, strict=True))
    idle = [s for s in signature.scalars if s not in by_number.values()]
    if idle:
        raise UsageError(f"{source.at} does not take {_names(idle)}", "name its parameter so")
    return by_number


def _unpaired(
    source: KernelSource,
    what: str,
    left: Sequence[KernelParameter],
    open_: Sequence[Tensor | Scalar],
) -> str:
    return (
        f"{source.at}: {what}, {listed(left)} remain; of the op's own, {_names(open_)}: "
        "the two do not pair"
    )


def _size(
    source: KernelSource, parameter: KernelParameter, signature: Signature, alone: bool
) -> str | None:
    """The axis that an int is the size of; empty where it is the number of elements, None where
    nothing tells.
    """
    tensors = (*signature.inputs, *signature.outputs)
    alike = len({tensor.axis_names for tensor in tensors}) == 1
    axes = [axis.name for axis in signature.axes]
    axis = _namesake(parameter.name, axes)
    general = _bare(parameter.name) in _COUNTS
    unit = unit_of(source)
    if alone and unit and unit.per_row and (general or not axis):
        return Sizes(signature).row
    of_one_of_many = axis and len(axes) > 1 and not (alone and general)
    if alike and (alone or general or axis) and not of_one_of_many:
        return ""
    return axis or None


def _refuse_unknown(source: KernelSource, signature: Signature, names: Sequence[str]) -> None:
    """Name all at once: each would be the next refusal."""
    if not names:
        return
    tensors = ", ".join(map(str, (*signature.inputs, *signature.outputs)))
    many = len(names) > 1
    them = (
        f"ints {joined(names)}, which are no axes"
        if many
        else f"an int {names[0]}, which is not an axis"
    )
    raise UsageError(
        f"{source.at} takes {them} of {tensors}",
        f"name axes so, as in --input {signature.inputs[0].name}:{','.join(names)}; what is a number is "
        f"said by --scalar {names[-1]}:int",
    )


def _namesake(name: str, axes: Sequence[str]) -> str:
    same = [axis for axis in axes if axis == name]
    close = same or [axis for axis in axes if _bare(axis) == _bare(name)]
    return close[0] if len(close) == 1 else ""


def _bare(name: str) -> str:
    """`token` of num_tokens."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return _AFFIXES.sub("", _AFFIXES.sub("", name)) or name


def _names(things: Sequence[Tensor | Scalar]) -> str:
    return ", ".join(thing.name for thing in things) or "none"
