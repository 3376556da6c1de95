"""The key of a choice, as the source text of a tuple: all that a backend's checks may depend on.

With a trace: the tensors' dtypes, the call's device, the Const axes, all other values. Without a
trace: the shapes as well. Why text: a function compiled from it costs a fifth of a loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from inspect import Parameter
from typing import NamedTuple

from fictl.trace import Const, Tensor, TraceTemplate


def key_parts(
    parameters: Sequence[Parameter],
    seen: Collection[str],
    template: TraceTemplate | None,
    devices_are_alike: bool,
) -> tuple[list[str], list[str]]:
    """Return the expressions of the key, and the names of parameters that are not tensors.

    The expressions use `parameters` and `_Tensor`. The key leaves out parameters not in `seen`, and
    the device if all devices are alike.
    """
    if template is None:
        names = [parameter.name for parameter in parameters]
        return [_SEEN.format(name) for name in names], names
    given = given_tensors(parameters, template)
    looked_at = {name: tensor for name, tensor in given.items() if name in seen}
    optional = {parameter.name for parameter in parameters if parameter.default is None}
    others = [
        parameter.name
        for parameter in parameters
        if parameter.name in seen and parameter.name not in given
    ]
    axes = {name for name, axis in template.axes.items() if isinstance(axis, Const)}
    parts = [
        # The call's device; the binding refuses a tensor on another device.
        *((name, f"{name}.get_device()") for name in list(given)[:1] if not devices_are_alike),
        *((name, f"{name}.dtype") for name in looked_at),
        *((size.tensor, size.here) for size in sizes(looked_at, axes, optional)),
    ]
    return [*others, *(guarded(part, name, optional) for name, part in parts)], others


def given_tensors(parameters: Sequence[Parameter], template: TraceTemplate) -> dict[str, Tensor]:
    """Map the parameters that are tensors to their descriptions in the template."""
    tensors = {
        getattr(tensor, "param", "") or name: tensor
        for name, tensor in {**template.outputs, **template.inputs}.items()
        if isinstance(tensor, Tensor)
    }
    return {
        parameter.name: tensors[parameter.name]
        for parameter in parameters
        if parameter.name in tensors
    }


# A key with an ndarray or a list cannot be hashed: its choice is made anew at each call.
_SEEN = "({0}.dtype, {0}.get_device(), {0}.shape) if isinstance({0}, _Tensor) else {0}"


class Size(NamedTuple):
    """Place of an axis: a dimension of a tensor, from the end, as leading ones may be added."""

    axis: str
    tensor: str
    position: int
    is_first: bool

    @property
    def here(self) -> str:
        return f"{self.tensor}.shape[{self.position}]"

    @property
    def with_leading(self) -> str:
        """Read the size if the trace's first axis stands for several leading dimensions."""
        if not self.is_first:
            return self.here
        to = f".shape[:{self.position + 1}]" if self.position < -1 else ""
        return f"{self.tensor}{to}.numel()"


def sizes(tensors: Mapping[str, Tensor], wanted: set[str], optional: set[str]) -> Iterator[Size]:
    """Yield one place per axis, preferably in a tensor that is never None."""
    missing = set(wanted)
    for name, tensor in sorted(tensors.items(), key=lambda item: item[0] in optional):
        for position, axis in enumerate(tensor.axes):
            if axis in missing:
                missing.discard(axis)
                yield Size(axis, name, position - len(tensor.axes), position == 0)


def guarded(part: str, name: str, optional: set[str]) -> str:
    return f"None if {name} is None else {part}" if name in optional else part


def is_value(value: object) -> bool:
    """Return whether a value can be in a key: immutable, and compared by value."""
    import torch

    if isinstance(value, tuple):
        return all(map(is_value, value))
    plain = bool | int | float | str | bytes | Enum | torch.dtype | torch.device
    return value is None or isinstance(value, plain)
