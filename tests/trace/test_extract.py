from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.errors import InvalidValue
from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var
from fictl.trace.extract import axis_sizes, case_dtypes, dtypes

TEMPLATE = TraceTemplate(
    axes={
        "rows": Var(""),
        "hidden": Const(""),
        "top": Const(""),
        "groups": Const(""),
        "all": Expr("rows * top", ""),
    },
    inputs={
        "input": Tensor(("rows", "hidden")),
        "weight": Tensor(("hidden",), dtype_from="input"),
        "top": Scalar("int32", 2),
        "scales": Tensor(("groups",), dtype="float32", optional=True),
    },
    outputs={
        "out": Tensor(("rows", "top"), dtype_from="input"),
        "index": Tensor(("all",), "int32"),
    },
    reference=lambda: None,
)


def call(**changes: Any) -> dict[str, Any]:
    given = {"input": torch.zeros(3, 8), "weight": torch.zeros(8), "top": 2, "scales": None}
    return {**given, **changes}


def test_sizes_are_those_of_tensors_scalars_and_expressions() -> None:
    assert axis_sizes(TEMPLATE, call()) == {"rows": 3, "hidden": 8, "top": 2, "all": 6}


def test_leading_dimensions_are_one_axis() -> None:
    assert axis_sizes(TEMPLATE, call(input=torch.zeros(2, 5, 8)))["rows"] == 10


def test_an_optional_tensor_adds_its_axes() -> None:
    assert axis_sizes(TEMPLATE, call(scales=torch.zeros(4)))["groups"] == 4


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"weight": torch.zeros(9)}, r"hidden is 9 in weight of shape \(9,\) and 8 in input"),
        ({"input": torch.zeros(8)}, r"input has the shape \(8,\), its axes are \(rows, hidden\)"),
        ({"input": 1.5}, "input is 1.5, which has no shape"),
        ({"input": None}, "no argument gives the size of rows"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(changes: Any, said: str) -> None:
    with pytest.raises(InvalidValue, match=said):
        axis_sizes(TEMPLATE, call(**changes))


def test_a_fixed_axis_has_its_size_only() -> None:
    template = TraceTemplate(
        {"n": Const("", value=128)}, {"input": Tensor(("n",))}, {}, lambda input: ()
    )
    assert axis_sizes(template, {"input": torch.zeros(128)}) == {"n": 128}
    with pytest.raises(InvalidValue, match=r"n is 5 in input of shape \(5,\) and 128 in the trace"):
        axis_sizes(template, {"input": torch.zeros(5)})


def test_an_expression_that_a_shape_contradicts_is_refused() -> None:
    template = TraceTemplate(
        {"n": Var(""), "two": Expr("2 * n", "")},
        {"a": Tensor(("n",)), "b": Tensor(("two",))},
        {},
        lambda a, b: (),
    )
    with pytest.raises(InvalidValue, match=r"two is 5, but 2 \* n is 6"):
        axis_sizes(template, {"a": torch.zeros(3), "b": torch.zeros(5)})


def test_dtypes_are_the_tensors_own_and_outputs_follow() -> None:
    half = {"input": torch.zeros(3, 8).half(), "weight": torch.zeros(8)}
    assert dtypes(TEMPLATE, call(**half)) == {
        "input": "float16",
        "weight": "float32",
        "top": "int32",
        "out": "float16",
        "index": "int32",
    }


def test_a_case_has_the_dtypes_of_its_call() -> None:
    scales = {"scales": torch.zeros(4)}
    assert case_dtypes(TEMPLATE, "float32", ("scales",)) == dtypes(TEMPLATE, call(**scales))
    assert case_dtypes(TEMPLATE, "float32", ()) == dtypes(TEMPLATE, call())


def test_a_parameter_of_another_name_is_found() -> None:
    template = TraceTemplate(
        {"n": Var("")}, {"hidden_states": Tensor(("n",), param="input")}, {}, lambda input: ()
    )
    given = {"input": torch.zeros(5).half()}
    assert axis_sizes(template, given) == {"n": 5}
    assert dtypes(template, given) == {"hidden_states": "float16"}
