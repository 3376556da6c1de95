from __future__ import annotations

from typing import Any

import pytest

from fictl.testing.generated.layout import MemoryLayout
from fictl.testing.generated.selection import variants
from fictl.testing.generated.variant import CaseVariant
from fictl.trace import Case, Const, Expr, Scalar, Tensor, TraceTemplate, Var

TWISTED = {*MemoryLayout} - {MemoryLayout.CONTIGUOUS}


def template(**changes: Any) -> TraceTemplate:
    facts: dict[str, Any] = {
        "axes": {"rows": Var(""), "n": Const("")},
        "inputs": {"input": Tensor(("rows", "n"))},
        "outputs": {"out": Tensor(("rows", "n"))},
        "reference": lambda input: input,
    }
    return TraceTemplate(**{**facts, **changes})


def case(rows: int = 3, n: int = 8, dtype: str = "float16", *passing: str) -> Case:
    return Case("norm", {"rows": rows, "n": n}, dtype, passing)


def chosen(traced: TraceTemplate, *cases: Case) -> list[CaseVariant]:
    return list(variants(traced, cases or [case()], seed=7))


def of_layout(found: list[CaseVariant], *layouts: MemoryLayout) -> list[str]:
    return sorted({str(each.case) for each in found if each.layout in layouts})


def test_every_case_is_tested_as_it_is() -> None:
    cases = [case(rows, dtype=dtype) for rows in (1, 3, 1 << 20) for dtype in ("float16", "int32")]
    found = chosen(template(), *cases)
    assert [each.case for each in found[:6]] == cases
    assert {each.seed for each in found} == {7}


def test_layouts_are_for_the_two_largest_small_cases_of_each_dtype() -> None:
    cases = [case(rows) for rows in (1, 1 << 20, 5, 3)] + [case(4, dtype="int32")]
    found = chosen(template(), *cases)
    for layout in TWISTED:
        assert of_layout(found, layout) == [
            "norm-3x8-float16",
            "norm-4x8-int32",
            "norm-5x8-float16",
        ]


def test_where_all_are_large_the_smallest_is_taken() -> None:
    found = chosen(template(), case(1 << 21), case(1 << 20))
    assert of_layout(found, *TWISTED) == ["norm-1048576x8-float16"]


def test_layouts_that_change_nothing_are_left_out() -> None:
    flat = template(inputs={"input": Tensor(("n",))}, outputs={"out": Tensor(("n",))})
    assert {each.layout for each in chosen(flat)} == {*MemoryLayout} - {MemoryLayout.TRANSPOSED}
    number = template(inputs={"input": Scalar("int32")}, outputs={"out": Tensor(())})
    assert {each.layout for each in chosen(number)} == {MemoryLayout.CONTIGUOUS}


@pytest.mark.parametrize("extremes", [("zeros", "small"), ("nonfinite",), ()])
def test_extremes_are_those_of_the_trace(extremes: tuple[str, ...]) -> None:
    found = chosen(template(extremes=extremes))
    assert {each.values for each in found} == {"normal", *extremes}


def test_which_of_equal_numbers_is_chosen_is_not_tested() -> None:
    indices = template(outputs={"index": Tensor(("rows",), dtype="int32")})
    assert {each.values for each in chosen(indices)} == {"normal"}


def test_integers_have_no_extremes() -> None:
    assert {each.values for each in chosen(template(), case(dtype="int32"))} == {"normal"}


def test_an_axis_that_varies_may_be_empty_and_one_that_a_model_fixes_not() -> None:
    derived = [str(each.case) for each in chosen(template()) if not each.declared]
    assert derived == ["norm-0x8-float16"]


def test_what_the_trace_forbids_is_not_asked() -> None:
    assert all(each.declared for each in chosen(template(constraints=("rows >= 1",))))
    computed = {"rows": Var(""), "n": Const(""), "segments": Expr("rows - 1", "")}
    assert all(each.declared for each in chosen(template(axes=computed)))


def test_an_empty_case_that_bench_has_must_work() -> None:
    found = chosen(template(), case(), case(0))
    assert {each.declared for each in found if each.case.sizes["rows"] == 0} == {True}


def test_optional_inputs_are_left_out_and_passed_alone_and_together() -> None:
    inputs = {
        "input": Tensor(("rows", "n")),
        "bias": Tensor(("n",), optional=True),
        "mask": Tensor(("rows",), optional=True),
    }
    found = chosen(template(inputs=inputs), case(3, 8, "float16", "bias"))
    passing = [each.case.passing for each in found if not each.declared and each.case.sizes["rows"]]
    assert passing == [(), ("mask",), ("bias", "mask")]


def test_an_optional_input_whose_size_no_case_gives_is_not_passed() -> None:
    inputs = {"input": Tensor(("rows", "n")), "scale": Tensor(("groups",), optional=True)}
    axes = {"rows": Var(""), "n": Const(""), "groups": Var("")}
    assert all(not each.case.passing for each in chosen(template(inputs=inputs, axes=axes)))
