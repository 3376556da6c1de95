"""One variant of an op: called on guarded tensors and compared with its reference."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from fictl import settings
from fictl.case.compare import assert_right
from fictl.case.inputs import case_inputs
from fictl.case.outputs import OutputSpec, argument_specs, case_sizes
from fictl.case.results import reference_results
from fictl.testing.generated.guarded_call import GuardedCall
from fictl.testing.generated.layout import MemoryLayout
from fictl.testing.generated.variant import CaseVariant
from fictl.trace import TraceTemplate
from fictl.trace.extract import case_dtypes


@dataclass(frozen=True)
class GuardedTrial:
    """One variant, its public function or class (`api`), and the device of its tensors."""

    api: Any
    template: TraceTemplate
    variant: CaseVariant
    device: str

    def check(self) -> None:
        """Raise the op's own error, or an AssertionError where its results are wrong.

        An op with optional output arguments is called twice: with them, then without.
        """
        # Why in this order: a write past the end then hits guard bytes before other memory.
        required = {name: spec for name, spec in self._outputs.items() if spec.required}
        for outputs in (self._outputs, required) if required != self._outputs else (required,):
            results = self._accepted(outputs)
            if results is None:
                return
            for name, value in results.items():
                self._check_dtype(name, value)
            poisoned = not settings.BARE_TENSORS.get() and self.variant.values != "nonfinite"
            assert_right(self.template, self._inputs, results, lambda: self._expected, poisoned)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return case_sizes(self.template, self.variant.case)

    @cached_property
    def _dtypes(self) -> dict[str, str]:
        case = self.variant.case
        return case_dtypes(self.template, case.dtype, case.passing)

    @cached_property
    def _inputs(self) -> dict[str, Any]:
        case, seed, values = self.variant.case, self.variant.seed, self.variant.values
        with self._blaming_trace("init"):
            return case_inputs(self.template, case, self.device, seed, values)

    @cached_property
    def _outputs(self) -> dict[str, OutputSpec]:
        """Return the outputs that the function takes as arguments."""
        return argument_specs(self.api, self.template, self.variant.case)

    @cached_property
    def _expected(self) -> tuple[Any, ...]:
        with self._blaming_trace("reference"):
            return reference_results(self.template, self._inputs)

    @contextmanager
    def _blaming_trace(self, part: str) -> Iterator[None]:
        """Turn an error of the trace at sizes that bench.py does not have into advice."""
        try:
            yield
        except Exception as error:
            if self.variant.declared:
                raise
            raise AssertionError(
                f"the {part} of the trace fails at {self._sizes}: {error!r}; if they are not what "
                "the op is for, say so there: constraints=(…,)"
            ) from error

    def _accepted(self, outputs: Mapping[str, OutputSpec]) -> dict[str, Any] | None:
        """Return the op's results; None if it refuses a variant that it need not support.

        If the op refuses the layout of a named argument, that argument is passed contiguous.
        """
        call = GuardedCall(self.api, self._inputs, outputs, self.device)
        layout = self.variant.layout
        laid_out = [] if layout is MemoryLayout.CONTIGUOUS else call.tensors
        while True:
            try:
                return call.run(layout, laid_out)
            except ValueError as error:
                if self.variant.declared and not laid_out:
                    raise
                named = _named(str(error), [*self._inputs, *outputs])
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


def _named(message: str, arguments: Iterable[str]) -> set[str]:
    return {name for name in arguments if re.search(rf"\b{re.escape(name)}\b", message)}
