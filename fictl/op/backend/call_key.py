"""What a backend's checks may depend on, as the source text of a tuple: the key of a choice.

With a trace: the tensors' dtypes, the call's device, the Const axes, the values of all else. Without
one: the shapes as well. Text, since a function compiled from it costs a fifth of a loop over arguments.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from inspect import Parameter

from fictl.trace import Const, Tensor, TraceTemplate


def key_parts(
    parameters: Sequence[Parameter],
    seen: Collection[str],
    template: TraceTemplate | None,
    devices_are_alike: bool,
) -> tuple[list[str], list[str]]:
    """The expressions of the key, over `parameters` and `_Tensor`; and the names of all but tensors.

    A parameter that no check has `seen` is not in it; nor is the device where all are alike.
    """
    if template is None:
        names = [each.name for each in parameters]
        return [_SEEN.format(name) for name in names], names
    tensors = {
        getattr(each, "param", "") or name: each
        for name, each in {**template.outputs, **template.inputs}.items()
        if isinstance(each, Tensor)
    }
    given = {each.name: tensors[each.name] for each in parameters if each.name in tensors}
    looked_at = {name: tensor for name, tensor in given.items() if name in seen}
    optional = {each.name for each in parameters if each.default is None}
    others = [each.name for each in parameters if each.name in seen and each.name not in tensors]
    axes = {name for name, axis in template.axes.items() if isinstance(axis, Const)}
    parts = [
        # The call's device; a tensor elsewhere is the binding's to refuse.
        *((name, f"{name}.get_device()") for name in list(given)[:1] if not devices_are_alike),
        *((name, f"{name}.dtype") for name in looked_at),
        *_sizes(looked_at, axes, optional),
    ]
    return [*others, *(_guarded(part, name, optional) for name, part in parts)], others


# An ndarray or a list makes a key that cannot be hashed: its choice is made anew every time.
_SEEN = "({0}.dtype, {0}.get_device(), {0}.shape) if isinstance({0}, _Tensor) else {0}"


def _sizes(
    tensors: Mapping[str, Tensor], wanted: set[str], optional: set[str]
) -> Iterator[tuple[str, str]]:
    """Each axis once, from a tensor that is always there if one has it."""
    missing = set(wanted)
    for name, tensor in sorted(tensors.items(), key=lambda item: item[0] in optional):
        for position, axis in enumerate(tensor.axes):
            if axis in missing:
                missing.discard(axis)
                # From the end: leading dimensions may be more than the trace's one.
                yield name, f"{name}.shape[{position - len(tensor.axes)}]"


def _guarded(part: str, name: str, optional: set[str]) -> str:
    return f"None if {name} is None else {part}" if name in optional else part


def is_value(value: object) -> bool:
    """Whether it can stand in a key: what cannot change, and is equal to what it is like."""
    import torch

    if isinstance(value, tuple):
        return all(map(is_value, value))
    plain = bool | int | float | str | bytes | Enum | torch.dtype | torch.device
    return value is None or isinstance(value, plain)
