from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from fictl.case.outputs import argument_specs, case_sizes, output_arguments, output_specs
from fictl.trace import Case, Expr, Tensor, TraceTemplate, Var

TEMPLATE = TraceTemplate(
    axes={"n": Var("rows"), "m": Expr("n * 2", "twice n")},
    inputs={"x": Tensor(("n",)), "y": Tensor(("m",))},
    outputs={"x": Tensor(("n",)), "wide": Tensor(("m",), dtype="float32"), "top": Tensor(("n",))},
    reference=lambda x, y: (x, y, x),
)
CASE = Case("f", {"n": 3}, "float16")


def function(x: Any, y: Any, wide: Any, top: Any = None) -> None:
    """Take the outputs that its caller has allocated."""


class Planned:
    def plan(self, x: Any) -> None: ...

    def run(self, y: Any, wide: Any = None) -> None: ...


def test_outputs_that_a_caller_may_allocate_are_parameters_and_not_inputs() -> None:
    assert output_arguments(TEMPLATE, {"x", "y", "wide"}) == ("wide",)


def test_an_output_has_the_shape_and_the_dtype_of_the_trace() -> None:
    out = output_specs(TEMPLATE, CASE, ["wide"])["wide"].empty("cpu")
    assert (out.shape, out.dtype) == ((6,), torch.float32)


def test_an_output_without_a_default_is_required() -> None:
    specs = argument_specs(function, TEMPLATE, CASE)
    assert {name: spec.required for name, spec in specs.items()} == {"wide": True, "top": False}


def test_the_arguments_of_a_class_are_those_of_plan_and_run() -> None:
    assert [*argument_specs(Planned, TEMPLATE, CASE)] == ["wide"]


def test_a_trace_that_binds_is_given_no_outputs() -> None:
    binding = replace(TEMPLATE, bind=lambda inputs: (lambda: None, lambda: None))
    assert argument_specs(function, binding, CASE) == {}


def test_sizes_of_a_case_are_those_of_all_its_axes() -> None:
    assert case_sizes(TEMPLATE, CASE) == {"n": 3, "m": 6}
