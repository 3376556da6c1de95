from __future__ import annotations

from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var
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
    with pytest.raises(NameError, match="__import__"):
        template(constraints=("__import__('os')",)).check_sizes({"rows": 1, "hidden": 8})


def test_tolerances_are_the_formats_unless_an_op_says_otherwise() -> None:
    assert template().tolerances is TOLERANCES
    assert template(tolerances={"float16": (1, 1)}).tolerances == {"float16": (1, 1)}
