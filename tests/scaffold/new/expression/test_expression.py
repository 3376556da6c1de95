"""Expressions with reductions, taken apart into stages."""

from __future__ import annotations

from fictl.scaffold.new.expression import Expression


def _stages(text: str) -> list[tuple[str, str, str]]:
    return [(each.name, each.reduction, str(each.of)) for each in Expression(text).stages]


def test_a_reduction_is_a_stage_with_a_name_for_what_follows() -> None:
    norm = Expression("x * rsqrt(mean(x * x) + eps) * w")
    assert _stages(norm.text) == [("mean_square", "mean", "x * x")]
    assert norm.final.text == "x * rsqrt(mean_square + eps) * w"


def test_the_inner_one_comes_first_and_the_same_one_twice_is_one() -> None:
    softmax = Expression("exp(x - max(x)) / sum(exp(x - max(x)))")
    assert _stages(softmax.text) == [("max_x", "max", "x"), ("sum_exp", "sum", "exp(x - max_x)")]
    assert softmax.final.text == "exp(x - max_x) / sum_exp"


def test_a_name_that_is_taken_is_numbered() -> None:
    assert [name for name, _, _ in _stages("max_x + max(x) + max(x + 1) * max(x + 2)")] == [
        "max_x_2",
        "row_max",
        "row_max_2",
    ]


def test_without_reductions_there_is_no_stage() -> None:
    assert not Expression("max(x, y)").stages
    assert not Expression("max(x, y)").has_reductions


def test_a_product_is_one_of_names_and_numbers() -> None:
    assert Expression("2 * x * factor").is_product
    assert not Expression("x / factor").is_product
    assert not Expression("exp(x)").is_product


def test_headers_are_those_of_the_functions_used() -> None:
    assert Expression("sqrt(x)").headers == ()
    assert Expression("gelu(x)").headers == Expression("x ** 2").headers == ("functions",)
