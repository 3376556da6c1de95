"""The choice of a solution for a call, by its definition, its sizes and its device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch._C import _are_functorch_transforms_active as _transformed

from fictl.apply.call_facts import facts, hardware_of, numbers_that_count, unfit
from fictl.apply.config import USE_DEF_BEST, ApplyConfigRegistry
from fictl.apply.table import ApplyTable, Best, Sizes
from fictl.errors import FictlError, InvalidValue
from fictl.trace import Definition

# Sizes of serving are many; an older choice is made anew.
_MOST_CHOICES = 4096


@dataclass(frozen=True)
class Choice:
    """The solution for one kind of call, or why there is none; sizes of the outputs to allocate."""

    why: str
    best: Best | None = None
    sizes: Sizes = ()
    shapes: tuple[tuple[int, ...], ...] = ()
    hardware: tuple[str, ...] = ()


class Subject:
    """A definition, with the choices made so far."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.inputs, self.outputs = len(definition.inputs), len(definition.outputs)
        self.numbers = numbers_that_count(definition)
        self.in_place = any(name in definition.inputs for name in definition.outputs)
        self.choices: dict[tuple[Any, ...], Choice] = {}

    @cached_property
    def dtypes(self) -> list[torch.dtype]:
        return self.definition.torch_output_dtypes

    def require_count(self, args: Sequence[Any]) -> None:
        if len(args) not in (self.inputs, self.inputs + self.outputs):
            raise InvalidValue(
                f"{self.definition.name} is called with {len(args)} arguments",
                f"{self.inputs} inputs, or {self.inputs + self.outputs} with its outputs",
            )


class Chooser:
    """Chooses by the table of a dataset, and remembers choices with their subjects."""

    def __init__(self, table: ApplyTable, configs: ApplyConfigRegistry) -> None:
        self._table, self._configs = table, configs

    def choice(self, subject: Subject, values: tuple[Any, ...]) -> Choice:
        """Return the choice for a call, made once for each kind of call."""
        if _transformed():
            return Choice("torch.func transforms this call")
        try:
            key = facts(values, subject.numbers)
            choice = subject.choices.get(key)
        except (TypeError, RuntimeError):  # An argument that has no hash, or no memory.
            return Choice("an argument is not a plain tensor")
        if choice is None:
            if len(subject.choices) >= _MOST_CHOICES:
                subject.choices.clear()
            choice = subject.choices[key] = self.chosen(subject, values)
        return choice

    def chosen(self, subject: Subject, values: tuple[Any, ...]) -> Choice:
        """Make the choice anew."""
        definition = subject.definition
        reason = unfit(definition, values)
        if reason:
            return Choice(reason)
        try:
            axes = definition.get_axes_values_from_inputs(values[: subject.inputs])
            definition.sizes(axes, _numbers(definition, values))
            shapes = tuple(shape or () for shape in definition.get_output_shapes(axes))
            outputs = [tuple(value.shape) for value in values[subject.inputs :]]
        except FictlError as error:
            return Choice(error.message)
        if outputs and outputs != [*shapes]:
            return Choice(f"the outputs have the shapes {outputs}, instead of {[*shapes]}")
        return self._of_sizes(subject, values, tuple(axes.items()), shapes)

    def _of_sizes(
        self,
        subject: Subject,
        values: tuple[Any, ...],
        sizes: Sizes,
        shapes: tuple[tuple[int, ...], ...],
    ) -> Choice:
        name = subject.definition.name
        config = self._configs.get(name)
        device = next((v.device for v in values if isinstance(v, torch.Tensor)), None)
        hardware = config.hardware or hardware_of(device or torch.device("cpu"))
        best = self._table.match(name, hardware, sizes)
        if best is not None:
            why = f"{best.speedup:.2f}x the reference"
            return Choice(why, best, sizes, shapes, hardware)
        known = self._table.known_sizes(name, hardware)
        best = self._table.match_any(name, hardware)
        if best is not None and config.on_miss_policy == USE_DEF_BEST:
            why = f"no evaluation at these sizes; {best.speedup:.2f}x the reference at others"
            return Choice(why, best, sizes, shapes, hardware)
        return Choice(_no_evaluation(known, hardware), None, sizes, shapes, hardware)


def _numbers(definition: Definition, values: Sequence[Any]) -> dict[str, Any]:
    pairs = zip(definition.inputs.items(), values, strict=False)
    return {name: value for (name, spec), value in pairs if spec.shape is None}


def _no_evaluation(known: Sequence[Sizes], hardware: Sequence[str]) -> str:
    where = " or ".join(hardware)
    if not known:
        return f"no solution was evaluated on {where}"
    shown = [" ".join(f"{axis}={size}" for axis, size in sizes) for sizes in known[:5]]
    more = f" and {len(known) - 5} more" if len(known) > 5 else ""
    return f"no solution passed at these sizes on {where}; there are {', '.join(shown)}{more}"
