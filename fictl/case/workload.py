"""The inputs and outputs of one case: as many copies as a cold cache takes, each with other data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fictl.case.inputs import make_inputs
from fictl.case.subject import Subject
from fictl.case.traffic import case_sizes, moved, touched
from fictl.errors import UsageError
from fictl.trace import Case
from fictl.trace.extract import case_dtypes

if TYPE_CHECKING:
    import torch

# Another seed for each copy, and others again for what replaces them on the way.
_STRIDE = 1_000_003


class Workload:
    """Inputs are shared by all sides, unless the op changes them; outputs are each side's own.

    refcheck: whether results are to be compared with the reference, if there is one.
    """

    def __init__(
        self, subject: Subject, case: Case, device: str, seed: int = 0, *, refcheck: bool = True
    ) -> None:
        self.subject, self.case, self.device = subject, case, device
        self.refcheck = refcheck and not subject.reason
        self.sizes = case_sizes(subject, case)
        self._seed = seed
        self._inputs: dict[int, dict[str, Any]] = {}

    def inputs(self, copy: int) -> dict[str, Any]:
        if self.subject.changes_inputs:
            return self._made(copy)
        if copy not in self._inputs:
            self._inputs[copy] = self._made(copy)
        return self._inputs[copy]

    def outputs(self) -> dict[str, torch.Tensor]:
        """Those that a caller may allocate, uninitialised."""
        import torch

        template, case = self.subject.template, self.case
        dtypes = case_dtypes(template, case.dtype, case.passing)
        return {
            name: torch.empty(
                [self.sizes[axis] for axis in template.outputs[name].axes],
                dtype=getattr(torch, dtypes[name]),
                device=self.device,
            )
            for name in self.subject.given
        }

    def renew(self, copy: int, inputs: Mapping[str, Any]) -> None:
        """Other numbers where they are: what a kernel remembers of the ones before is wrong now.

        Offsets and indices stay: a plan may have been made of them.
        """
        others = self._made(copy + _STRIDE)
        for name, tensor in tensors(inputs).items():
            if tensor.is_floating_point():
                tensor.copy_(others[name])

    def keep_only(self, copy: int) -> None:
        """Before the reference needs the memory."""
        self._inputs = {i: made for i, made in self._inputs.items() if i == copy}

    def reference(self, inputs: Mapping[str, Any]) -> tuple[Any, ...]:
        """In fp64, where the inputs are; in the order of the outputs."""
        expected = self.subject.template.reference(
            **{name: _double(value) for name, value in inputs.items()}
        )
        return expected if isinstance(expected, tuple) else (expected,)

    @cached_property
    def bytes(self) -> int:
        """What one call moves: by the trace's own count of this data, if it has one."""
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

    def _made(self, copy: int) -> dict[str, Any]:
        case = self.case
        made = make_inputs(
            self.subject.template,
            case.sizes,
            case.dtype,
            self.device,
            seed=self._seed + copy,
            passing=case.passing,
            scalars=case.scalars,
        )
        unknown = sorted({*made} - self.subject.parameters)
        if unknown:
            raise UsageError(f"{self.subject.function} has no parameter {', '.join(unknown)}")
        return made


def tensors(values: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    return {name: value for name, value in values.items() if hasattr(value, "element_size")}


def _double(value: Any) -> Any:
    return value.double() if getattr(value, "is_floating_point", bool)() else value
