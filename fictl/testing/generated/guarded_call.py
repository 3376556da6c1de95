"""A call of an op on tensors between guard bytes, which are checked after the call."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from fictl import settings
from fictl.case.copies import copied
from fictl.case.outputs import OutputSpec
from fictl.case.poison import poisoned_allocations
from fictl.case.results import named_results
from fictl.op.bound import bind
from fictl.op.declared import Op, declaration
from fictl.testing.generated.guard import Guarded
from fictl.testing.generated.layout import MemoryLayout


@dataclass(frozen=True)
class GuardedCall:
    """A call of `api` with these inputs by parameter, and with the outputs passed as arguments."""

    api: Any
    inputs: Mapping[str, Any]
    outputs: Mapping[str, OutputSpec]
    device: str

    @property
    def tensors(self) -> list[str]:
        given = [name for name, value in self.inputs.items() if isinstance(value, torch.Tensor)]
        return [*given, *self.outputs]

    def run(self, layout: MemoryLayout, laid_out: Collection[str]) -> dict[str, Any]:
        """Call it with copies of the inputs, and return the results by name.

        The tensors named in `laid_out` have the given layout, the others are contiguous.
        """
        layouts = {n: layout if n in laid_out else MemoryLayout.CONTIGUOUS for n in self.tensors}
        guards = [*self._guards(layouts)]
        arguments = {**self.inputs, **{guard.name: guard.tensor for guard in guards}}
        bare = settings.BARE_TENSORS.get()
        with nullcontext() if bare else poisoned_allocations():
            plan, run = bind(self.api, arguments)
            plan()
            returned = run()
        results = copied(named_results(self._op.template, arguments, returned))
        for guard in guards:
            if guard.name in self.inputs and guard.name not in self._op.mutates:
                guard.check_unchanged(self.inputs[guard.name])
            guard.check_outside()
        return results

    @property
    def _op(self) -> Op:
        return declaration(self.api)

    def _guards(self, layouts: Mapping[str, MemoryLayout]) -> Iterator[Guarded]:
        for name, layout in layouts.items():
            if name in self.outputs:
                spec = self.outputs[name]
                yield Guarded(name, spec.shape, spec.dtype, self.device, layout, written=True)
            else:
                yield Guarded.of(name, self.inputs[name], layout, name in self._op.mutates)
