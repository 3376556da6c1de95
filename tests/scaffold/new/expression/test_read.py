"""What may stand in an expression, and what is said of the rest."""

from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.scaffold.new.expression.read import is_reduction, names, read


@pytest.mark.parametrize(
    "text",
    [
        "x * factor",
        "-x + 1e-6",
        "x ** 2 / 3",
        "where(x > 0, x, 0.01 * x)",
        "max(x, y)",
        "x * rsqrt(mean(x * x) + eps) * w",
        "exp(x - max(x)) / sum(exp(x - max(x)))",
    ],
)
def test_arithmetic_and_known_functions_are_read(text: str) -> None:
    read(text)


def test_names_are_free_and_each_once_in_the_order_of_the_text() -> None:
    assert names(read("y * sigmoid(x) + y / exp(z)")) == ("y", "x", "z")


def test_of_one_argument_max_is_over_a_row_and_of_two_it_is_not() -> None:
    assert is_reduction(read("max(x)"))
    assert not is_reduction(read("max(x, y)"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x *", r"'x \*' is not an expression"),
        ("", "is not an expression"),
        ("x.sum()", r"calls 'x.sum'"),
        ("sigmoyd(x)", "calls 'sigmoyd'; did you mean 'sigmoid'"),
        ("where(x, 1)", "where takes 3 arguments"),
        ("exp(x, y)", "exp takes 1 argument"),
        ("exp(x=y)", "exp takes 1 argument"),
        ("x[0]", r"has 'x\[0\]'"),
        ("x if y else z", "has 'x if y else z'"),
        ("'text'", r"has .*text"),
        ("True", "has 'True'"),
        ("x < y < z", "has 'x < y < z'"),
        ("x // 2", "cannot have"),
        ("x @ y", "cannot have"),
        ("lambda: x", "has 'lambda: x'"),
        ("__import__('os')", "calls '__import__'"),
    ],
)
def test_what_cannot_be_a_kernel_is_refused_in_words(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        read(text)
    assert "use numbers, names" in caught.value.hint
