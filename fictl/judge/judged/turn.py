"""One call: inputs that no other call has, outputs that nothing has written yet, what came of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fictl.bench.worker.poison import poison, unwritten
from fictl.trace import Definition

if TYPE_CHECKING:
    import torch


@dataclass
class Turn:
    """`given` are outputs to be written; `left` is a copy of what there was when the call returned."""

    definition: Definition
    seed: int
    inputs: dict[str, Any]
    given: dict[str, torch.Tensor]
    result: Any = None
    left: dict[str, torch.Tensor] = field(default_factory=dict)

    def outputs(self) -> dict[str, torch.Tensor]:
        """Those that are tensors: `problem` says what is wrong with the others."""
        if self.given:
            return self.given
        values = self.result if isinstance(self.result, tuple | list) else (self.result,)
        return {
            name: _tensor(value)
            for name, value in zip(self.definition.outputs, values, strict=False)
            if _is_tensor(value) or isinstance(value, bool | int | float)
        }

    def problem(self) -> tuple[str, str]:
        """Why what it returned cannot be outputs, and the status that this has; or ''."""
        names = [*self.definition.outputs]
        values = self.result if isinstance(self.result, tuple | list) else (self.result,)
        if self.given:
            return "", ""
        if len(values) != len(names) or (len(names) == 1 and self.result is None):
            count = 0 if self.result is None else len(values)
            return (
                f"it returned {count} values, its outputs are {', '.join(names)}",
                "INCORRECT_SHAPE",
            )
        for name, value in zip(names, values, strict=True):
            kind = type(value).__name__
            if isinstance(value, _torch().Tensor) and not _is_tensor(value):
                return (
                    f"{name} is a {kind}: a tensor that may lie about what it holds",
                    "REWARD_HACK",
                )
            if not _is_tensor(value) and not isinstance(value, bool | int | float):
                return f"{name} is a {kind}, no tensor", "INCORRECT_DTYPE"
        return "", ""

    def keep(self) -> None:
        """A copy in the order of the stream: work on another stream or thread may come after it."""
        self.left = {name: tensor.clone() for name, tensor in self.outputs().items()}

    def changed_since(self) -> str:
        """The output that is not what it was when the call returned."""
        now = self.outputs()
        return next((n for n, was in self.left.items() if n in now and not same(was, now[n])), "")

    def unwritten(self) -> str:
        """The output that is as it was before the call."""
        return next(
            (n for n, t in self.given.items() if t.numel() and unwritten(t) == t.numel()
             and n not in self.inputs), ""
        )  # fmt: skip

    def places(self) -> dict[str, int]:
        """Where the memory of each output begins; in-place ones have their inputs' own."""
        return {
            name: tensor.untyped_storage().data_ptr()
            for name, tensor in self.outputs().items()
            if tensor.numel() and name not in self.inputs
        }

    def aliased(self) -> tuple[str, str]:
        """An output, and the input that it lies in, where no name says so."""
        inputs = {
            tensor.untyped_storage().data_ptr(): name
            for name, tensor in self.inputs.items()
            if _is_tensor(tensor) and tensor.numel()
        }
        found = ((name, inputs.get(place, "")) for name, place in self.places().items())
        return next(((output, given) for output, given in found if given), ("", ""))


def outputs_to_write(
    definition: Definition, axes: Mapping[str, int], inputs: Mapping[str, Any], device: str
) -> dict[str, torch.Tensor]:
    """Poisoned; what is an input, too, is that input."""
    import torch

    from fictl.trace.documents.tensor_spec import torch_dtype

    shapes = dict(zip(definition.outputs, definition.get_output_shapes(axes), strict=True))
    made = {
        name: inputs[name]
        if name in inputs
        else torch.empty(tuple(shapes[name] or ()), dtype=torch_dtype(spec.dtype), device=device)
        for name, spec in definition.outputs.items()
    }
    poison(tensor for name, tensor in made.items() if name not in inputs)
    return made


def output_sizes(definition: Definition, axes: Mapping[str, int]) -> dict[str, int]:
    """In bytes."""
    from fictl.trace.documents.tensor_spec import torch_dtype

    shapes = dict(zip(definition.outputs, definition.get_output_shapes(axes), strict=True))
    return {
        name: math.prod(shapes[name] or ()) * torch_dtype(spec.dtype).itemsize
        for name, spec in definition.outputs.items()
    }


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Bit by bit: NaN is NaN."""
    import torch

    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    first, second = (t.contiguous().reshape(-1).view(torch.uint8) for t in (one, other))
    return bool(torch.equal(first, second))


def tensors_of(values: Iterable[Any]) -> list[torch.Tensor]:
    return [value for value in values if _is_tensor(value)]


def size_of(values: Iterable[Any]) -> int:
    """In bytes."""
    return sum(t.numel() * t.element_size() for t in tensors_of(values))


def _tensor(value: Any) -> torch.Tensor:
    return value if _is_tensor(value) else _torch().as_tensor(value)  # type: ignore[no-any-return]


def _is_tensor(value: Any) -> bool:
    """And nothing that a class of the solution's makes of one."""
    torch = _torch()
    return type(value) in (torch.Tensor, torch.nn.Parameter)


def _torch() -> Any:
    import torch

    return torch
