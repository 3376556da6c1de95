"""The cases of an op as workloads: numbers as values, tensors that cannot be random as a file."""

from __future__ import annotations

import hashlib
import json
import math
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from fictl.case.definitions import Traced
from fictl.dtype import parse_dtype
from fictl.trace import Case, Tensor
from fictl.trace.extract import case_dtypes

if TYPE_CHECKING:
    import torch

    from fictl.trace import Definition, Workload

# Larger tensors are not stored: the definition's init generates them again.
_LARGEST_FILE = 1 << 20
_SPACE = uuid.UUID("5f1e4a3c-3a53-4a0e-9f0e-6d1f1c7c0a11")


@dataclass(frozen=True)
class CaseWorkload:
    """A case of a definition. The same case always gets the same uuid."""

    traced: Traced
    definition: Definition
    case: Case

    @cached_property
    def uuid(self) -> str:
        identity = json.dumps(
            [self.definition.name, dict(self.case.sizes), self.case.dtype, self.case.manner]
        )
        return str(uuid.uuid5(_SPACE, identity))

    @property
    def path(self) -> str:
        """Path of the file of its tensors, relative to the dataset."""
        definition = self.definition
        name = f"{definition.name}_{self.uuid}.safetensors"
        return f"blob/workloads/{definition.op_type}/{definition.name}/{name}"

    @property
    def workload(self) -> Workload:
        from fictl.trace import Workload

        constants = self.definition.const_axes
        axes = {n: self._sizes[n] for n in self.definition.axes if n not in constants}
        inputs = dict(self._inputs())
        return Workload.model_validate({"axes": axes, "inputs": inputs, "uuid": self.uuid})

    @cached_property
    def tensors(self) -> dict[str, torch.Tensor]:
        """Tensors to store in its file."""
        if not self.is_in_file:
            return {}
        import torch

        template = self.traced.template
        assert template.init is not None
        dtype = getattr(torch, self.case.dtype)
        generator = torch.Generator().manual_seed(self._seed)
        values = template.init(self._sizes, dtype, "cpu", generator)
        return {name: values[template.parameter(name)].contiguous() for name in self._initial}

    def _inputs(self) -> Iterator[tuple[str, dict[str, Any]]]:
        template = self.traced.template
        numbers = {**template.scalars(), **self._sizes, **self.case.scalars}
        for name in self.definition.inputs:
            if not isinstance(template.inputs[name], Tensor):
                yield name, {"type": "scalar", "value": numbers[name]}
            elif name not in self._initial:
                yield name, {"type": "random"}
            elif self.is_in_file:
                yield name, {"type": "safetensors", "path": f"./{self.path}", "tensor_key": name}
            else:
                yield name, {"type": "custom"}

    @property
    def _initial(self) -> list[str]:
        """Inputs that the trace's `init` generates."""
        generated = _made_by_init(self.traced, self.case.passing)
        return [n for n in self.definition.inputs if self.traced.template.parameter(n) in generated]

    @property
    def is_in_file(self) -> bool:
        template, dtypes = self.traced.template, self._dtypes
        tensors = {n: spec for n, spec in template.input_tensors() if n in self._initial}
        packed = any("x2" in dtypes[name] for name in tensors)
        size = sum(
            math.prod(self._sizes[axis] for axis in spec.axes) * parse_dtype(dtypes[name]).bytes
            for name, spec in tensors.items()
        )
        return bool(tensors) and not packed and size <= _LARGEST_FILE

    @property
    def _dtypes(self) -> Mapping[str, str]:
        return case_dtypes(self.traced.template, self.case.dtype, self.case.passing)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        template = self.traced.template
        absent = template.optional_axes(self.case.passing)
        return template.check_sizes(self.case.sizes, self.case.scalars, absent)

    @property
    def _seed(self) -> int:
        return int(hashlib.sha256(self.uuid.encode()).hexdigest()[:8], 16)


def workloads_of(traced: Traced, most: int = 0) -> Iterator[CaseWorkload]:
    """Yield a workload for each case, without duplicates; `most` limits the elements."""
    seen = set[str]()
    for case in traced.cases:
        if most and traced.template.elements(case.sizes, case.passing) > most:
            continue
        workload = CaseWorkload(traced, traced.definition(case), case)
        if workload.uuid not in seen:
            seen.add(workload.uuid)
            yield workload


@lru_cache(maxsize=256)
def _made_by_init(traced: Traced, passing: tuple[str, ...]) -> frozenset[str]:
    """Parameters that `init` generates, found with the smallest case to save memory."""
    import torch

    template = traced.template
    if template.init is None:
        return frozenset()
    cases = (case for case in traced.cases if case.passing == passing)
    case = min(cases, key=lambda candidate: template.elements(candidate.sizes, candidate.passing))
    absent = template.optional_axes(passing)
    sizes = template.check_sizes(case.sizes, case.scalars, absent)
    return frozenset(template.init(sizes, getattr(torch, case.dtype), "cpu", torch.Generator()))
