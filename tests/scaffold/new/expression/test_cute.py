from __future__ import annotations

import pytest

from fictl.scaffold.new.expression import Expression
from fictl.scaffold.new.expression.functions import FUNCTIONS


@pytest.mark.parametrize(
    ("text", "cute"),
    [
        ("x * factor", "x * factor"),
        ("x**2 + 1", "x * x + 1.0"),
        ("(x + 1)**2", "(x + 1.0) ** 2.0"),
        ("tanh(x) / 2", "cute.math.tanh(x) / 2.0"),
        ("abs(x)", "cute.math.absf(x)"),
        ("max(x, 0)", "_max(x, 0.0)"),
        ("silu(x) * y", "_silu(x) * y"),
        ("where(x > 0, x, 1)", "cute.where(x > 0.0, x, 1.0)"),
        ("where(x > 0, 1, 0)", "cute.where(x > 0.0, cute.full_like(x > 0.0, 1.0, Float32), 0.0)"),
    ],
)
def test_an_expression_in_cute_dsl(text: str, cute: str) -> None:
    assert Expression(text).cute() == cute


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_a_word_for_it(name: str) -> None:
    arguments = ", ".join(
        ["x > 0", "x", "y"] if name == "where" else ["x", "y"][: FUNCTIONS[name].arguments]
    )
    assert Expression(f"{name}({arguments})").cute()
