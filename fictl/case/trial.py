"""One contender in a workload: its calls over the copies, and what is wrong with what they left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fictl.case.compare import assert_right
from fictl.case.contender import Contender
from fictl.case.poison import poison, unwritten
from fictl.case.results import as_tuple
from fictl.case.subject import Call
from fictl.case.workload import Workload, tensors
from fictl.timing.side import Side
from fictl.trace import TraceTemplate

if TYPE_CHECKING:
    import torch


@dataclass
class Prepared:
    """One copy: `result` is what the last call returned."""

    inputs: dict[str, Any]
    outputs: dict[str, torch.Tensor]
    plan: Call
    run: Call
    result: Any = None

    def __call__(self) -> None:
        self.result = self.run()

    def fresh(self) -> list[torch.Tensor]:
        """What is its own to overwrite: outputs, and results that lie in no input."""
        theirs = {t.untyped_storage().data_ptr() for t in tensors(self.inputs).values()}
        results = [value for value in as_tuple(self.result) if hasattr(value, "untyped_storage")]
        everything = [*self.outputs.values(), *results]
        return [t for t in everything if t.untyped_storage().data_ptr() not in theirs]


@dataclass
class Trial:
    """A copy is prepared, planned and poisoned when it is first asked for."""

    contender: Contender
    workload: Workload
    prepared: dict[int, Prepared] = field(default_factory=dict)

    @property
    def side(self) -> Side:
        return Side(self.copy, self.workload.working_set)

    def copy(self, index: int) -> Prepared:
        if index not in self.prepared:
            inputs = self.workload.inputs(index)
            outputs = self.workload.outputs() if self.contender.takes_outputs else {}
            made = Prepared(inputs, outputs, *self.contender.prepare(inputs, outputs))
            made.plan()
            poison(outputs.values())
            self.prepared[index] = made
        return self.prepared[index]

    def keep_only(self, index: int) -> None:
        """The memory of the other copies is free."""
        self.prepared = {index: self.copy(index)}

    def attempt(self, index: int) -> str:
        """Call a copy once, outputs poisoned before; why what it leaves is wrong, or ''."""
        made = self.copy(index)
        before = _cloned(made.inputs) if self.workload.subject.changes_inputs else made.inputs
        poison(made.fresh())
        made()
        return self.problem(index, before)

    def problem(self, index: int, inputs: Mapping[str, Any] | None = None) -> str:
        """Why what the copy's last call left is wrong; '' where nothing is.

        `inputs` are those before the call, where it changes them.
        """
        made = self.prepared[index]
        left = next(filter(None, map(self._left, made.outputs, made.outputs.values())), "")
        if left or not self.workload.refcheck:
            return left
        given = made.inputs if inputs is None else inputs
        return mismatch(
            self.workload.subject.template,
            given,
            self._actual(made),
            lambda: self.workload.reference(given),
        )

    def _left(self, name: str, output: torch.Tensor) -> str:
        """Of poison. Where there is a reference, it is for that to say what a part of it means."""
        left, count = unwritten(output), output.numel()
        if left and left == count:
            return f"it wrote nothing to {name}"
        if left and not self.workload.refcheck:
            return f"it left {left} of {count} elements of {name} unwritten"
        return ""

    def _actual(self, made: Prepared) -> tuple[Any, ...]:
        """What was given to be written, else what was returned.

        Who returns nothing has written in place.
        """
        outputs = self.workload.subject.template.outputs
        in_place = self.contender.takes_outputs or made.result is None
        places = {**made.inputs, **made.outputs} if in_place else {}
        if all(name in places for name in outputs):
            return tuple(places[name] for name in outputs)
        return as_tuple(made.result)


def mismatch(
    template: TraceTemplate,
    inputs: Mapping[str, Any],
    actual: tuple[Any, ...],
    reference: Callable[[], tuple[Any, ...]],
) -> str:
    names = [*template.outputs]
    if len(actual) != len(names):
        return f"it returns {len(actual)} values, its trace has the outputs {', '.join(names)}"
    try:
        assert_right(template, inputs, dict(zip(names, actual, strict=True)), reference)
    except AssertionError as error:
        return str(error)
    return ""


def _cloned(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {**inputs, **{name: tensor.clone() for name, tensor in tensors(inputs).items()}}
