"""A public function with its trace, callable on inputs by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fictl.case.outputs import output_arguments
from fictl.case.parameters import flat_parameters, input_parameters
from fictl.op.bound import bind
from fictl.op.declared import declaration
from fictl.project import OpFolder
from fictl.trace import TraceTemplate

Call: TypeAlias = Callable[[], Any]


@dataclass(frozen=True)
class Subject:
    """A public function as tools call it.

    bind: makes (plan, run) of inputs and outputs by parameter.
    has_plan: the plan is not empty.
    reason: why there is no reference to check against; '' if there is one.
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
        """True if a call changes its inputs, so that every call needs separate inputs."""
        written = (*self.mutates, *self.template.outputs)
        return not input_parameters(self.template).isdisjoint(written)

    @property
    def output_arguments(self) -> tuple[str, ...]:
        """Return the names of the outputs that a caller may allocate."""
        return output_arguments(self.template, self.parameters)


def of_function(folder: OpFolder, name: str, key: str) -> Subject:
    """Make the subject for a public function or class of an op folder."""
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
