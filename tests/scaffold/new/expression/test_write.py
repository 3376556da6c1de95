"""One expression in three languages: the same value, and no parentheses that nobody needs."""

from __future__ import annotations

import math

import pytest
import torch

from fictl.errors import UsageError
from fictl.scaffold.new.expression import Expression
from fictl.scaffold.new.expression.functions import FUNCTIONS

TENSORS = ("x", "y")


@pytest.mark.parametrize(
    ("text", "cpp"),
    [
        ("x * factor", "x * factor"),
        ("(x + y) * 2", "(x + y) * 2.0f"),
        ("x - (y - 1)", "x - (y - 1.0f)"),
        ("x - y - 1", "x - y - 1.0f"),
        ("x / (y * 2)", "x / (y * 2.0f)"),
        ("-(x + y)", "-(x + y)"),
        ("-x * y", "-x * y"),
        ("(x - y) ** 2", "device::square(x - y)"),
        ("x ** 0.5", "pow(x, 0.5f)"),
        ("max(x, 0)", "fmax(x, 0.0f)"),
        ("where(x >= 0, x, y / 3)", "(x >= 0.0f ? x : y / 3.0f)"),
        ("gelu(x) + 1e-6", "device::gelu(x) + 1e-06f"),
    ],
)
def test_cpp(text: str, cpp: str) -> None:
    assert Expression(text).cpp() == cpp


def test_cpp_of_a_type_parameter_has_its_numbers_in_that_type() -> None:
    assert Expression("0.1 * x").cpp("F") == "F(0.1) * x"


@pytest.mark.parametrize(
    ("text", "cpp"),
    [
        ("x / s", "x * (1.0f / s)"),
        ("x / 3 + y", "x * (1.0f / 3.0f) + y"),
        ("(x - y) / (s * 2)", "(x - y) * (1.0f / (s * 2.0f))"),
        ("s / x", "s / x"),
        ("x / y", "x / y"),
        ("s / 2 * x", "s / 2.0f * x"),
    ],
)
def test_what_is_one_for_all_elements_divides_them_once(text: str, cpp: str) -> None:
    assert Expression(text, TENSORS).cpp() == cpp


@pytest.mark.parametrize(
    ("text", "torch_text"),
    [
        ("x * sigmoid(y)", "x * torch.sigmoid(y)"),
        ("max(x, 0)", "x.clamp(min=0)"),
        ("min(1, x * y)", "(x * y).clamp(max=1)"),
        ("max(x, y)", "torch.maximum(x, y)"),
        ("x / sum(x)", "x / x.sum(dim=-1, keepdim=True)"),
        ("where(flag > 0, x, 2 * y)", "(x if flag > 0 else 2 * y)"),
        ("(x - y) ** 2", "(x - y) ** 2"),
        ("x ** 2", "x**2"),
    ],
)
def test_torch(text: str, torch_text: str) -> None:
    assert Expression(text).torch(TENSORS) == torch_text


def test_torch_of_one_value_a_row_keeps_the_dimension_only_inside() -> None:
    text = Expression("sum(exp(x - max(x)))").torch(TENSORS, keep=False)
    assert text == "torch.exp(x - x.amax(dim=-1, keepdim=True)).sum(dim=-1)"


def test_torch_can_have_tensors_in_fp64() -> None:
    assert Expression("x * s").torch(TENSORS, cast=".double()") == "x.double() * s"


def test_a_function_of_numbers_alone_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'exp\(s\)' has no tensor"):
        Expression("x * exp(s)").torch(TENSORS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_torch_of_every_function_is_what_its_name_says(name: str) -> None:
    """Against Python's own mathematics, where it has it."""
    x = torch.tensor([0.25, 0.5, 2.0], dtype=torch.float64)
    arguments = {1: "x", 2: "x, 0.7", 3: "x > 0.4, x, -x"}[FUNCTIONS[name].arguments]
    got = eval(Expression(f"{name}({arguments})").torch(["x"]), {"torch": torch, "x": x})
    wanted = [_scalar(name, value) for value in x.tolist()]
    torch.testing.assert_close(got, torch.tensor(wanted, dtype=torch.float64))


def _scalar(name: str, x: float) -> float:
    ours = {
        "rsqrt": 1 / math.sqrt(x),
        "abs": abs(x),
        "sigmoid": 1 / (1 + math.exp(-x)),
        "silu": x / (1 + math.exp(-x)),
        "relu": max(x, 0.0),
        "gelu": 0.5 * x * (1 + math.erf(x / math.sqrt(2))),
        "gelu_tanh": 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))),
        "softplus": math.log1p(math.exp(x)),
        "min": min(x, 0.7),
        "max": max(x, 0.7),
        "where": x if x > 0.4 else -x,
    }
    return ours[name] if name in ours else float(getattr(math, name)(x))
