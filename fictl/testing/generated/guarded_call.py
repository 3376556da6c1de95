"""A call of an op whose tensors lie amid guards, which are looked at when it is over."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from fictl import settings
from fictl.case.outputs import Room
from fictl.case.results import named_results
from fictl.op.bound import bind
from fictl.op.declared import declaration
from fictl.testing.generated.guard import Guarded
from fictl.testing.generated.layout import Layout


@dataclass(frozen=True)
class GuardedCall:
    """`api` takes the `inputs`, by parameter, and those of its outputs that there is `room` for.

    `results` are the names of all its outputs.
    """

    api: Any
    inputs: Mapping[str, Any]
    results: Sequence[str]
    room: Mapping[str, Room]
    device: str

    @property
    def tensors(self) -> list[str]:
        given = [name for name, value in self.inputs.items() if isinstance(value, torch.Tensor)]
        return [*given, *self.room]

    def run(self, layout: Layout, laid_out: Collection[str]) -> dict[str, Any]:
        """What it computes, by name, with copies of the inputs; `laid_out` are not contiguous."""
        layouts = {n: layout if n in laid_out else Layout.CONTIGUOUS for n in self.tensors}
        guards = [*self._guards(layouts)]
        arguments = {**self.inputs, **{guard.name: guard.tensor for guard in guards}}
        with _poisoned_allocations():
            plan, run = bind(self.api, arguments)
            plan()
            returned = run()
        results = named_results(self.results, self.inputs, arguments, returned)
        found = {name: _copy(value) for name, value in results.items()}
        for guard in guards:
            if guard.name in self.inputs and guard.name not in self._mutated:
                guard.check_unchanged(self.inputs[guard.name])
            guard.check_outside()
        return found

    @property
    def _mutated(self) -> tuple[str, ...]:
        return declaration(self.api).mutates

    def _guards(self, layouts: Mapping[str, Layout]) -> Iterator[Guarded]:
        for name, layout in layouts.items():
            if name in self.room:
                room = self.room[name]
                yield Guarded(name, room.shape, room.dtype, self.device, layout, written=True)
            else:
                yield Guarded.of(name, self.inputs[name], layout, name in self._mutated)


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


@contextmanager
def _poisoned_allocations() -> Iterator[None]:
    """What the op allocates starts as NaN: torch does that among its means for determinism."""
    if settings.BARE_TENSORS.get():
        yield
        return
    # Why not use_deterministic_algorithms: it imports the compiler, which takes two seconds.
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("warn")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*deterministic", UserWarning)
            yield
    finally:
        torch.set_deterministic_debug_mode(before)
