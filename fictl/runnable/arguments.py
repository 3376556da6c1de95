"""Arguments of a definition: their order, by name or position, and allocation of outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from fictl.trace import Definition


class Arguments:
    """Names of one definition's inputs and outputs, for its calls."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self.inputs = (*definition.inputs,)
        self.outputs = (*definition.outputs,)

    def split(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
        """Split arguments into inputs and outputs; outputs are given all or not at all."""
        names, count = (*self.inputs, *self.outputs), len(self.inputs)
        if not kwargs and len(args) in (count, len(names)):
            return [*args[:count]], [*args[count:]]
        if len(args) > len(names):
            raise TypeError(f"{len(args)} arguments are given, there are {', '.join(names)}")
        given = dict(zip(names, args, strict=False))
        twice = [name for name in kwargs if name in given]
        unknown = [name for name in kwargs if name not in names]
        if twice or unknown:
            problem = "given twice" if twice else f"unknown, there are {', '.join(names)}"
            raise TypeError(f"{', '.join(twice or unknown)}: {problem}")
        given.update(kwargs)
        # Why not for an output that is an input as well: that one is written in place.
        outputs = [given[name] for name in self.outputs if name in given]
        wanted = self.inputs if self._gives_none(given) else names
        missing = [name for name in wanted if name not in given]
        if missing:
            raise KeyError(f"{', '.join(missing)} missing; there are {', '.join(names)}")
        return [given[name] for name in self.inputs], outputs if wanted is names else []

    def require_outputs(self, outputs: Sequence[Any]) -> None:
        if len(outputs) != len(self.outputs):
            raise KeyError(f"{', '.join(self.outputs)} missing: where results are written to")

    def allocate(self, inputs: Sequence[Any]) -> list[Any]:
        """Allocate empty tensors for the outputs, on the device of the first tensor."""
        import torch

        if len(inputs) != len(self.inputs):
            raise TypeError(
                f"{len(inputs)} arguments are given, the inputs are {', '.join(self.inputs)}"
            )
        axes = self._definition.get_axes_values_from_inputs(inputs)
        shapes = self._definition.get_output_shapes(axes)
        device = next((x.device for x in inputs if isinstance(x, torch.Tensor)), "cpu")
        return [
            torch.empty(shape or (), dtype=dtype, device=device)
            for shape, dtype in zip(shapes, self._dtypes, strict=True)
        ]

    @cached_property
    def _dtypes(self) -> list[Any]:
        return self._definition.torch_output_dtypes

    def _gives_none(self, given: Mapping[str, Any]) -> bool:
        return not any(name in given for name in self.outputs if name not in self.inputs)
