"""What is benched: a public function with its trace, as a call over inputs by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fictl.case.parameters import flat_parameters
from fictl.op.bound import bind
from fictl.op.declared import declaration
from fictl.project import OpFolder
from fictl.trace import TraceTemplate

Call: TypeAlias = Callable[[], Any]


@dataclass(frozen=True)
class Subject:
    """`bind` makes (plan, run) of inputs and outputs by parameter; `has_plan` where plan works.

    `reason` is why there is no reference to check against; '' where there is one.
    """

    op: str
    function: str
    template: TraceTemplate
    bind: Callable[[Mapping[str, Any]], tuple[Call, Call]]
    parameters: frozenset[str]
    mutates: tuple[str, ...]
    devices: tuple[str, ...] = ("cuda", "emu")
    has_plan: bool = False
    key: str = ""
    reason: str = ""

    @property
    def changes_inputs(self) -> bool:
        """Then every call needs inputs of its own."""
        inputs = {self.template.parameter(name) for name in self.template.inputs}
        return bool(inputs.intersection((*self.mutates, *self.template.outputs)))

    @property
    def given(self) -> tuple[str, ...]:
        """The outputs that a caller may allocate."""
        inputs = {self.template.parameter(name) for name in self.template.inputs}
        return tuple(n for n in self.template.outputs if n in self.parameters and n not in inputs)


def of_function(folder: OpFolder, name: str, key: str) -> Subject:
    """A public function or class of an op folder."""
    api: Any = getattr(folder.load("op"), name)
    op = declaration(api)
    return Subject(
        str(folder),
        name,
        op.template,
        lambda inputs: bind(api, inputs),
        frozenset(flat_parameters(api)),
        op.mutates,
        op.devices,
        hasattr(api, "plan"),
        key,
    )
