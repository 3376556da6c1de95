"""One contender on one workload: calls on copies of the inputs, and checks of the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fictl.case.compare import mismatch
from fictl.case.contender import Contender
from fictl.case.copies import copied
from fictl.case.examined import examine
from fictl.case.poison import poison, unwritten
from fictl.case.results import as_tuple, named_results
from fictl.case.subject import Call
from fictl.case.workload import TrialWorkload, tensors
from fictl.timing.side import Side

if TYPE_CHECKING:
    import torch


@dataclass
class Prepared:
    """A contender bound to one copy of the inputs; `result` is what its last call returned."""

    inputs: dict[str, Any]
    outputs: dict[str, torch.Tensor]
    plan: Call
    run: Call
    result: Any = None

    def __call__(self) -> None:
        self.result = self.run()

    def fresh(self) -> list[torch.Tensor]:
        """Return tensors that may be overwritten: outputs, and results outside of input memory."""
        read = {t.untyped_storage().data_ptr() for t in tensors(self.inputs).values()}
        results = [value for value in as_tuple(self.result) if hasattr(value, "untyped_storage")]
        everything = [*self.outputs.values(), *results]
        return [t for t in everything if t.untyped_storage().data_ptr() not in read]


@dataclass
class CaseTrial:
    """A contender on a workload; each copy is bound, planned and poisoned at its first use.

    off: the largest error of a baseline in tolerances of the op, or 0 within them.
    """

    contender: Contender
    workload: TrialWorkload
    prepared: dict[int, Prepared] = field(default_factory=dict)
    off: float = 0.0

    @property
    def side(self) -> Side:
        return Side(self.copy, self.workload.working_set)

    def copy(self, index: int) -> Prepared:
        if index not in self.prepared:
            inputs = self.workload.inputs(index)
            outputs = self.workload.outputs() if self.contender.takes_outputs else {}
            prepared = Prepared(inputs, outputs, *self.contender.prepare(inputs, outputs))
            prepared.plan()
            poison(outputs.values())
            self.prepared[index] = prepared
        return self.prepared[index]

    def keep_only(self, index: int) -> None:
        """Free the memory of the other copies."""
        self.prepared = {index: self.copy(index)}

    def attempt(self, index: int) -> str:
        """Poison a copy's outputs, call it once, and say what is wrong with the results, or ''."""
        prepared = self.copy(index)
        changes_inputs = self.workload.subject.changes_inputs
        before = copied(prepared.inputs) if changes_inputs else prepared.inputs
        poison(prepared.fresh())
        prepared()
        return self.problem(index, before)

    def problem(self, index: int, inputs: Mapping[str, Any] | None = None) -> str:
        """Say what is wrong with the results of the copy's last call, or ''.

        inputs: the inputs before the call, if the call changes them.
        """
        prepared = self.prepared[index]
        outputs = prepared.outputs.items()
        left = next(filter(None, (self._left_of(*output) for output in outputs)), "")
        if left or not self.workload.refcheck:
            return left
        before = prepared.inputs if inputs is None else inputs
        return self._compared(
            before, lambda: self._results(prepared), lambda: self.workload.reference(before)
        )

    def _compared(
        self,
        inputs: Mapping[str, Any],
        results: Callable[[], dict[str, Any]],
        expected: Callable[[], tuple[Any, ...]],
    ) -> str:
        """Compare with the reference; what the op may not be off by, a baseline may."""
        template = self.workload.subject.template
        if not self.contender.is_baseline:
            return mismatch(template, inputs, results, expected)
        examined = examine(template, inputs, results, expected, self.contender.tolerances)
        self.off = max(self.off, examined.off)
        return examined.problem

    def _left_of(self, name: str, output: torch.Tensor) -> str:
        """Say how much poison remains in an output, or ''.

        If there is a reference check, it reports partly written outputs instead.
        """
        left, count = unwritten(output), output.numel()
        if left and left == count:
            return f"it wrote nothing to {name}"
        if left and not self.workload.refcheck:
            return f"it left {left} of {count} elements of {name} unwritten"
        return ""

    def _results(self, prepared: Prepared) -> dict[str, Any]:
        """Return results by output; a contender that returns nothing wrote them in place."""
        in_place = self.contender.takes_outputs or prepared.result is None
        arguments = {**prepared.inputs, **prepared.outputs} if in_place else {}
        return named_results(self.workload.subject.template, arguments, prepared.result)
