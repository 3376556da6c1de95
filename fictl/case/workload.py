"""Inputs and outputs of one case, with enough different copies for a cold cache."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fictl.case.inputs import case_inputs
from fictl.case.outputs import case_sizes, output_specs
from fictl.case.results import reference_results
from fictl.case.subject import Subject
from fictl.case.traffic import moved, touched
from fictl.errors import UsageError
from fictl.trace import Case

if TYPE_CHECKING:
    import torch

# Each copy has its own seed, and so does each replacement of its values between rounds.
_SEED_STRIDE = 1_000_003


class TrialWorkload:
    """The tensors of one case. All sides share the inputs, unless the op changes them.

    refcheck: compare the results with the reference, if there is one.
    """

    def __init__(
        self, subject: Subject, case: Case, device: str, seed: int = 0, *, refcheck: bool = True
    ) -> None:
        self.subject, self.case, self.device = subject, case, device
        self.refcheck = refcheck and not subject.reason
        self.sizes = case_sizes(subject.template, case)
        self._seed = seed
        self._inputs: dict[int, dict[str, Any]] = {}

    def inputs(self, copy: int) -> dict[str, Any]:
        if self.subject.changes_inputs:
            return self._make_inputs(copy)
        if copy not in self._inputs:
            self._inputs[copy] = self._make_inputs(copy)
        return self._inputs[copy]

    def outputs(self) -> dict[str, torch.Tensor]:
        """Allocate the outputs that a caller may allocate; they are not initialised."""
        specs = output_specs(self.subject.template, self.case, self.subject.output_arguments)
        return {name: spec.empty(self.device) for name, spec in specs.items()}

    def renew(self, copy: int, inputs: Mapping[str, Any]) -> None:
        """Replace the values in place, so that a kernel's cached results become wrong.

        Offsets and indices stay, because a plan may depend on them.
        """
        others = self._make_inputs(copy + _SEED_STRIDE)
        for name, tensor in tensors(inputs).items():
            if tensor.is_floating_point():
                tensor.copy_(others[name])

    def keep_only(self, copy: int) -> None:
        """Free the other copies, because the reference needs memory."""
        self._inputs = {i: inputs for i, inputs in self._inputs.items() if i == copy}

    def reference(self, inputs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Run the reference in fp64; return its results in output order."""
        return reference_results(self.subject.template, inputs)

    @cached_property
    def bytes(self) -> int:
        """Count the bytes that one call moves, by the trace's own formula if it has one."""
        count = self.subject.template.bytes
        if count is None:
            return moved(self.subject, self.case)
        return int(count(self.sizes, self.inputs(0)))

    @cached_property
    def flops(self) -> int | None:
        count = self.subject.template.flops
        return int(count(self.sizes, self.inputs(0))) if count else None

    @cached_property
    def working_set(self) -> int:
        return touched(self.subject, self.case)

    def _make_inputs(self, copy: int) -> dict[str, Any]:
        seed = self._seed + copy
        inputs = case_inputs(self.subject.template, self.case, self.device, seed)
        unknown = sorted({*inputs} - self.subject.parameters)
        if unknown:
            raise UsageError(f"{self.subject.function} has no parameter {', '.join(unknown)}")
        return inputs


def tensors(values: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Return only the tensors among the values."""
    return {name: value for name, value in values.items() if hasattr(value, "element_size")}
