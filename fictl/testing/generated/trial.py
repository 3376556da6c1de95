"""One variant of an op, called with guarded tensors and held against its reference."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from fictl.case.compare import assert_right
from fictl.case.inputs import make_inputs
from fictl.case.outputs import Room, rooms
from fictl.testing.generated.guarded_call import GuardedCall
from fictl.testing.generated.layout import Layout
from fictl.testing.generated.variant import Variant
from fictl.trace import TraceTemplate
from fictl.trace.extract import case_dtypes


@dataclass(frozen=True)
class Trial:
    """`api` is the public function or class; `device` is where its tensors go."""

    api: Any
    template: TraceTemplate
    variant: Variant
    device: str

    def check(self) -> None:
        """Twice where the function may take its outputs: they are given, then it allocates them.

        What is wrong is raised, an AssertionError where the op itself raised nothing.
        """
        # Why in this order: who writes past the end is found before that hits others' memory.
        required = {name: room for name, room in self._room.items() if room.required}
        for room in (self._room, required) if required != self._room else (required,):
            found = self._accepted(room)
            if found is None:
                return
            for name, value in found.items():
                self._check_dtype(name, value)
            assert_right(self.template, self._inputs, found, lambda: self._expected)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        case = self.variant.case
        absent = self.template.optional_axes(case.passing)
        return self.template.check_sizes(case.sizes, absent=absent)

    @cached_property
    def _dtypes(self) -> dict[str, str]:
        case = self.variant.case
        return case_dtypes(self.template, case.dtype, case.passing)

    @cached_property
    def _inputs(self) -> dict[str, Any]:
        case, variant = self.variant.case, self.variant
        with self._of_trace("init"):
            return make_inputs(
                self.template,
                case.sizes,
                case.dtype,
                self.device,
                variant.seed,
                case.passing,
                variant.values,
                case.scalars,
            )

    @cached_property
    def _room(self) -> dict[str, Room]:
        """For the outputs that the function takes as arguments of their names."""
        return rooms(self.api, self.template, self.variant.case, self._inputs)

    @cached_property
    def _expected(self) -> tuple[Any, ...]:
        with self._of_trace("reference"):
            result = self.template.reference(**_doubles(self._inputs))
        return result if isinstance(result, tuple) else (result,)

    @contextmanager
    def _of_trace(self, part: str) -> Iterator[None]:
        """Sizes that no case has may be too much for the trace, which is to say so."""
        try:
            yield
        except Exception as error:
            if self.variant.declared:
                raise
            raise AssertionError(
                f"the {part} of the trace fails at {self._sizes}: {error!r}; if they are not what "
                "the op is for, say so there: constraints=(…,)"
            ) from error

    def _accepted(self, room: Mapping[str, Room]) -> dict[str, Any] | None:
        """The results of a call that the op takes; None where it refuses what it need not take.

        An argument whose layout it refuses by name is made contiguous, and only that one.
        """
        call = GuardedCall(self.api, self._inputs, [*self.template.outputs], room, self.device)
        layout = self.variant.layout
        laid_out = [] if layout is Layout.CONTIGUOUS else call.tensors
        while True:
            try:
                return call.run(layout, laid_out)
            except ValueError as error:
                if self.variant.declared and not laid_out:
                    raise
                named = _named(str(error), [*self._inputs, *room])
                if not named:
                    raise AssertionError(f"it refuses, and names no argument: {error}") from error
                if not self.variant.declared:
                    return None
                refused = next((name for name in laid_out if name in named), None)
                if refused is None:
                    raise
                laid_out = [name for name in laid_out if name != refused]

    def _check_dtype(self, name: str, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            dtype = str(value.dtype).removeprefix("torch.")
            wanted = self._dtypes[name]
            assert dtype == wanted, f"{name} has dtype {dtype}, the trace says {wanted}"


def _doubles(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value.double() if getattr(value, "is_floating_point", bool)() else value
        for name, value in inputs.items()
    }


def _named(message: str, arguments: Iterable[str]) -> set[str]:
    return {name for name in arguments if re.search(rf"\b{re.escape(name)}\b", message)}
