from __future__ import annotations

import pytest

from fictl.trace.expression import Malformed, evaluate, names_in

VALUES = {"rows": 3, "heads": 4, "hidden": 128, "causal": True}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("rows * heads", 12),
        ("(rows + heads - 1) // heads", 1),
        ("-rows + 5", 2),
        ("hidden / 64", 2.0),
        ("hidden % 8 == 0", True),
        ("1 <= rows < heads", True),
        ("4 <= rows < 5", False),
        ("rows > 5 or heads == 4", True),
        ("not causal and rows", False),
        ("hidden in (64, 128)", True),
        ("hidden not in (64, 128)", False),
        ("max(rows, heads, 2) - min(rows, heads)", 1),
    ],
)
def test_arithmetic_and_conditions_have_their_values(text: str, value: object) -> None:
    assert evaluate(text, VALUES) == value


def test_names_are_those_of_axes_not_of_functions() -> None:
    assert names_in("max(rows, heads) % 8 == 0") == {"rows", "heads"}


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "rows.__class__",
        "[x for x in (1,)]",
        "lambda: 1",
        "'a' * rows",
        "rows @ 2",
        "f(rows)",
        "max(rows, key=rows)",
        "rows if causal else 1",
        "(rows := 1)",
        "1 << 99",
    ],
)
def test_what_is_more_than_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(Malformed, match="has") as info:
        names_in(text)
    assert "min, max" in info.value.hint


@pytest.mark.parametrize("text", ["", "rows *", "rows = 1", "(" * 500, "\0"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(Malformed, match="is not an expression"):
        evaluate(text, VALUES)


@pytest.mark.parametrize(
    "text", ["rows // (heads - 4)", "rows in heads", "cols + 1", "rows ** 999"]
)
def test_what_has_no_value_says_why(text: str) -> None:
    with pytest.raises(Malformed, match="has no value"):
        evaluate(text, VALUES)
