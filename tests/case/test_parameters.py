from __future__ import annotations

from typing import Any

from fictl.case.parameters import flat_parameters, input_parameters
from fictl.trace import Tensor, TraceTemplate, Var

ROW = Tensor(("n",))


class Planned:
    def plan(self, x: Any) -> None: ...

    def run(self, y: Any, out: Any = None) -> None: ...


def test_parameters_of_a_class_are_those_of_plan_and_run() -> None:
    assert [*flat_parameters(Planned)] == ["x", "y", "out"]


def test_parameters_of_a_function_are_its_own() -> None:
    assert [*flat_parameters(lambda x, y=1: x)] == ["x", "y"]


def test_inputs_are_named_by_the_parameters_they_are_passed_as() -> None:
    template = TraceTemplate({"n": Var("")}, {"x": ROW, "y": ROW}, {"out": ROW}, lambda x, y: x)
    assert input_parameters(template) == {"x", "y"}
