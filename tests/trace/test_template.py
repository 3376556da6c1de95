from __future__ import annotations

from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var
from fictl.trace.template import TOLERANCES


def template(**changes: Any) -> TraceTemplate:
    facts: dict[str, Any] = {
        "axes": {"rows": Var("tokens"), "hidden": Const("model width")},
        "inputs": {"input": Tensor(("rows", "hidden")), "eps": Scalar("float32", 1e-6)},
        "outputs": {"out": Tensor(("rows", "hidden"), dtype_from="input")},
        "reference": lambda input, eps: input,
    }
    return TraceTemplate(**{**facts, **changes})


@pytest.mark.parametrize("where", ["inputs", "outputs"])
def test_an_axis_that_is_not_declared_is_refused(where: str) -> None:
    with pytest.raises(UsageError, match=r"weight has the unknown axes \['cols'\]"):
        template(**{where: {"weight": Tensor(("cols", "rows"))}})


def test_a_size_that_is_missing_is_named() -> None:
    with pytest.raises(UsageError, match=r"no size to the axes \['hidden'\]") as info:
        template().check_sizes({"rows": 4})
    assert "{'rows': 4}" in info.value.hint


def test_a_broken_constraint_is_named_with_the_sizes() -> None:
    traced = template(constraints=("rows > 0", "hidden % 8 == 0"))
    with pytest.raises(UsageError, match="breaks 'hidden % 8 == 0'") as info:
        traced.check_sizes({"rows": 1, "hidden": 12})
    assert "'hidden': 12" in info.value.hint


def test_sizes_that_keep_the_constraints_pass() -> None:
    template(constraints=("hidden % 8 == 0",)).check_sizes({"rows": 0, "hidden": 16})


def test_a_constraint_is_arithmetic_and_nothing_else() -> None:
    with pytest.raises(UsageError, match="__import__"):
        template(constraints=("__import__('os')",))


def test_a_constraint_on_an_unknown_name_says_where_it_stands() -> None:
    with pytest.raises(UsageError, match=r"test_template.py:\d+: trace: 'cols > 0' names 'cols'"):
        template(constraints=("cols > 0",))


def test_a_constraint_may_use_a_scalar() -> None:
    traced = template(constraints=("eps < 1",))
    with pytest.raises(UsageError, match="breaks 'eps < 1'"):
        traced.check_sizes({"rows": 1, "hidden": 8}, {"eps": 2.0})


@pytest.mark.parametrize("where", ["inputs", "outputs"])
def test_a_dtype_from_what_is_no_input_is_refused(where: str) -> None:
    tensors = {"weight": Tensor(("rows",), dtype_from="source")}
    with pytest.raises(UsageError, match="takes its dtype from 'source', which is not an input"):
        template(**{where: tensors}, constraints=())


def with_expression(text: str) -> TraceTemplate:
    axes = {"rows": Var(""), "hidden": Const("", value=64), "all": Expr(text, "of everything")}
    return template(axes=axes)


def test_sizes_that_follow_from_others_are_computed() -> None:
    traced = with_expression("rows * hidden")
    assert traced.check_sizes({"rows": 3}) == {"rows": 3, "hidden": 64, "all": 192}


def test_an_expression_of_an_unknown_name_is_refused() -> None:
    with pytest.raises(UsageError, match="'rows \\* cols' names 'cols'"):
        with_expression("rows * cols")


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"rows": 3, "all": 5}, "gives all the size 5, which is 192"),
        ({"rows": 3, "hidden": 5}, "gives hidden the size 5, which is 64"),
    ],
)
def test_a_size_that_contradicts_the_template_is_refused(sizes: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        with_expression("rows * 64").check_sizes(sizes)


def with_optional() -> TraceTemplate:
    axes = {"rows": Var(""), "hidden": Const(""), "groups": Const("of scales")}
    inputs = {
        "input": Tensor(("rows", "hidden")),
        "eps": Scalar("float32", 1e-6),
        "scales": Tensor(("groups",), optional=True),
    }
    return template(axes=axes, inputs=inputs, constraints=("hidden % groups == 0",))


def test_axes_and_constraints_of_inputs_that_are_not_passed_do_not_count() -> None:
    traced = with_optional()
    assert traced.optional_axes(()) == {"groups"}
    sizes = traced.check_sizes({"rows": 1, "hidden": 8}, absent={"groups"})
    assert sizes == {"rows": 1, "hidden": 8}


def test_elements_count_what_is_passed() -> None:
    traced, sizes = with_optional(), {"rows": 2, "hidden": 8, "groups": 4}
    assert traced.elements(sizes) == 32
    assert traced.elements(sizes, ["scales"]) == 36


def test_tolerances_are_the_formats_unless_an_op_says_otherwise() -> None:
    assert template().tolerances is TOLERANCES
    assert template(tolerances={"float16": (1, 1)}).tolerances == {"float16": (1, 1)}


def test_extremes_that_there_are_not_are_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"unknown extremes \['huge'\]") as info:
        template(extremes=("zeros", "huge"))
    assert info.value.hint == "some of zeros, small, large, nonfinite"
