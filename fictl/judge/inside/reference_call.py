"""Calls the reference, in a process without any solution, for the expected outputs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fictl.trace import Definition, Workload

if TYPE_CHECKING:
    import torch

    from fictl.runnable import Runnable


class NoOutputs(Exception):
    """The reference's result does not match its definition."""


@dataclass(frozen=True)
class Expected:
    """Outputs by name, and the seconds that the call took."""

    outputs: dict[str, torch.Tensor]
    seconds: float


@dataclass(frozen=True)
class ReferenceCall:
    """A built reference. `device` is cuda, or cpu for everything else."""

    definition: Definition
    runnable: Runnable
    device: str

    def expected(self, inputs: Mapping[str, Any]) -> Expected:
        """Call the reference on copies of `inputs`; NoOutputs if the result does not fit."""
        import torch

        own = [value.clone() if hasattr(value, "clone") else value for value in inputs.values()]
        self._wait()
        start = time.perf_counter()
        with torch.no_grad():
            result = self.runnable.call_value_returning(*own)
        self._wait()
        return Expected(self._named(result), time.perf_counter() - start)

    def _wait(self) -> None:
        import torch

        if self.device == "cuda":
            torch.cuda.synchronize()

    def _named(self, result: Any) -> dict[str, torch.Tensor]:
        import torch

        names = [*self.definition.outputs]
        values = [*result] if isinstance(result, tuple | list) else [result]
        if len(values) != len(names) or (len(names) == 1 and result is None):
            count = 0 if result is None else len(values)
            raise NoOutputs(f"it returned {count} values, its outputs are {', '.join(names)}")
        for name, value in zip(names, values, strict=True):
            if not isinstance(value, torch.Tensor | bool | int | float):
                raise NoOutputs(f"{name} is a {type(value).__name__}, not a tensor")
        return {n: torch.as_tensor(value).detach() for n, value in zip(names, values, strict=True)}


def problem(definition: Definition, workload: Workload, outputs: Mapping[str, torch.Tensor]) -> str:
    """Explain why `outputs` are impossible for a reference; '' if they are not."""
    import torch

    shapes = definition.get_output_shapes(workload.axes)
    for name, shape in zip(definition.outputs, shapes, strict=True):
        got = outputs[name]
        if shape is not None and [*got.shape] != [*shape]:
            return f"{name} of the reference has shape {[*got.shape]}, not {[*shape]}"
        if got.numel() and got.is_floating_point() and bool(torch.isnan(got.float()).all()):
            return f"{name} of the reference is NaN throughout"
    return ""
