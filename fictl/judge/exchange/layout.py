"""Layout: the place of each tensor of a turn in the shared memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fictl.trace import Definition

if TYPE_CHECKING:
    import torch

    from fictl.judge.exchange.memory import SharedMemory

# Each part begins on a page of its own.
_ALIGNMENT = 4096


@dataclass(frozen=True)
class ExchangePart:
    """One dense tensor; `dtype` is torch's name of it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int

    @property
    def size(self) -> int:
        """Size in bytes."""
        return math.prod(self.shape) * _dtype(self.dtype).itemsize

    def view(self, memory: SharedMemory) -> torch.Tensor:
        """A new tensor with a storage of its own."""
        import torch

        if not self.size:
            return torch.empty(self.shape, dtype=_dtype(self.dtype), device=memory.device)
        return memory.bytes_at(self.offset, self.size).view(_dtype(self.dtype)).view(self.shape)


@dataclass(frozen=True)
class ExchangeLayout:
    """Parts of a turn; `outputs` are the outputs that are not also inputs."""

    inputs: tuple[ExchangePart, ...]
    outputs: tuple[ExchangePart, ...]

    @property
    def size(self) -> int:
        """Size in bytes; never 0."""
        ends = (_up(part.offset + part.size) for part in (*self.inputs, *self.outputs))
        return max(ends, default=0) or _ALIGNMENT

    @classmethod
    def of(
        cls, inputs: Mapping[str, Any], definition: Definition, axes: Mapping[str, int]
    ) -> ExchangeLayout:
        """Place all tensors of `inputs` and the outputs; numbers among the inputs need no place."""
        from fictl.trace.documents.tensor_spec import torch_dtype

        tensors = {n: value for n, value in inputs.items() if hasattr(value, "untyped_storage")}
        given = [(name, t.dtype, tuple(t.shape)) for name, t in tensors.items()]
        shapes = dict(zip(definition.outputs, definition.get_output_shapes(axes), strict=True))
        written = [
            (name, torch_dtype(spec.dtype), tuple(shapes[name] or ()))
            for name, spec in definition.outputs.items()
            if name not in tensors
        ]
        parts = _placed([*given, *written])
        return cls(parts[: len(given)], parts[len(given) :])

    def to_dict(self) -> dict[str, Any]:
        return {
            "inputs": [[p.name, p.dtype, p.shape, p.offset] for p in self.inputs],
            "outputs": [[p.name, p.dtype, p.shape, p.offset] for p in self.outputs],
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> ExchangeLayout:
        inputs, outputs = (
            tuple(
                ExchangePart(name, dtype, tuple(shape), at)
                for name, dtype, shape, at in document[kind]
            )
            for kind in ("inputs", "outputs")
        )
        return cls(inputs, outputs)


def _placed(tensors: Iterable[tuple[str, Any, tuple[int, ...]]]) -> tuple[ExchangePart, ...]:
    parts, offset = [], 0
    for name, dtype, shape in tensors:
        parts.append(ExchangePart(name, str(dtype).removeprefix("torch."), shape, offset))
        offset = _up(offset + parts[-1].size)
    return tuple(parts)


def _up(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _dtype(name: str) -> torch.dtype:
    import torch

    dtype: torch.dtype = getattr(torch, name)
    return dtype
