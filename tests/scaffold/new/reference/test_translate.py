"""From torch to expressions: what has a translation, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.scaffold.new.reference import parameters
from fictl.scaffold.new.reference.source import read_function
from fictl.scaffold.new.reference.translate import Translation, translate

_HEAD = "import torch\nimport torch.nn.functional as F\nEPS = 1e-6\n\n"


def translated(folder: Path, body: str, arguments: str = "x", before: str = "") -> Translation:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    path = folder / "ref.py"
    path.write_text(f"{_HEAD}{before}def f({arguments}):\n{lines}")
    function = read_function(f"{path}:f")
    return translate(function, parameters.parameters(function.node))


@pytest.mark.parametrize(
    ("body", "expression"),
    [
        ("return x * 2", "x * 2"),
        ("return -x + 1", "-x + 1"),
        ("return torch.sigmoid(x)", "sigmoid(x)"),
        ("return x.sigmoid()", "sigmoid(x)"),
        ("return F.silu(x)", "silu(x)"),
        ("return torch.nn.functional.silu(x)", "silu(x)"),
        ("return x.square()", "x * x"),
        ("return x.pow(2)", "x * x"),
        ("return (x + 1).pow(2)", "(x + 1) ** 2"),
        ("return torch.pow(x, 3)", "x ** 3"),
        ("return x.float().exp().to(x.dtype)", "exp(x)"),
        ("return x.reciprocal()", "1 / x"),
        ("return torch.where(x > 0, x, 0.1 * x)", "where(x > 0, x, 0.1 * x)"),
        ("return F.leaky_relu(x, 0.2)", "where(x > 0, x, 0.2 * x)"),
        ("return x.clamp(-1, 1)", "min(max(x, -1), 1)"),
        ("return x.clamp(max=6)", "min(x, 6)"),
        ("return torch.clamp_min(x, 0)", "max(x, 0)"),
        ("return F.gelu(x)", "gelu(x)"),
        ("return x + EPS", "x + 1e-06"),
        ("dtype = x.dtype\ny = x.float()\ny *= 2\nreturn y.to(dtype)", "x * 2"),
        ('"""Doubles."""\ny: torch.Tensor = x + x\nreturn y', "x + x"),
    ],
)
def test_what_goes_element_by_element(body: str, expression: str, tmp_path: Path) -> None:
    assert translated(tmp_path, body).expression == expression


@pytest.mark.parametrize(
    ("body", "expression"),
    [
        ("return x.sum(-1)", "sum(x)"),
        ("return torch.mean(x, dim=-1)", "mean(x)"),
        ("return x.max(dim=-1).values", "max(x)"),
        ("return x.max(-1)[0]", "max(x)"),
        ("return torch.amin(x, (-1,))", "min(x)"),
        ("return x - x.mean(-1, keepdim=True)", "x - mean(x)"),
        ("return x - x.mean(-1)[..., None]", "x - mean(x)"),
        ("return x - x.mean(-1).unsqueeze(-1)", "x - mean(x)"),
        ("return x / x.norm(dim=-1, keepdim=True)", "x / sqrt(sum(x * x))"),
        ("return x.amax(-1, keepdim=True).squeeze(-1)", "max(x)"),
        ("return x.var(-1, correction=0)", "mean((x - mean(x)) ** 2)"),
        ("return torch.softmax(x, -1)", "exp(x - max(x)) / sum(exp(x - max(x)))"),
        (
            "return F.rms_norm(x, (x.shape[-1],), eps=1e-6)",
            "x * rsqrt(mean(x * x) + 1e-06)",
        ),
        (
            "return F.layer_norm(x, x.shape[-1:])",
            "(x - mean(x)) * rsqrt(mean((x - mean(x)) ** 2) + 1e-05)",
        ),
    ],
)
def test_what_goes_over_rows(body: str, expression: str, tmp_path: Path) -> None:
    assert translated(tmp_path, body).expression == expression


def test_a_function_of_the_same_file_is_read_in_place(tmp_path: Path) -> None:
    before = "def gate(y, slope=2.0):\n    return torch.sigmoid(slope * y)\n\n"
    made = translated(tmp_path, "return x * gate(w)", "x, w", before)
    assert made.expression == "x * sigmoid(2.0 * w)"


def test_a_function_that_calls_itself_has_no_translation(tmp_path: Path) -> None:
    before = "def gate(y):\n    return gate(y)\n\n"
    assert "it calls itself" in translated(tmp_path, "return gate(x)", "x", before).why_not


@pytest.mark.parametrize(
    "body",
    [
        "return a @ b.T",
        "return F.linear(a, b)",
        "return torch.matmul(a.float(), b.float().t()).to(a.dtype)",
    ],
)
def test_a_matrix_product_is_of_its_own_kind(body: str, tmp_path: Path) -> None:
    made = translated(tmp_path, body, "a, b")
    assert (made.expression, made.kind) == (None, "gemm")


@pytest.mark.parametrize(
    "body", ["return a @ b", "return F.linear(b, a)", "return a @ b.T + 1", "return F.linear(a, a)"]
)
def test_other_products_are_not(body: str, tmp_path: Path) -> None:
    made = translated(tmp_path, body, "a, b")
    assert (made.expression, made.kind) == (None, "")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("return torch.sort(x).values", "expressions have no sort"),
        ("return torch.cumsum(x, -1)", "no cumsum"),
        ("return x.sum(0)", "say dim=-1"),
        ("return x.sum()", "say dim=-1"),
        ("return x.sum(-1, keepdim=True)", "drop keepdim=True"),
        ("return x - x.mean(-1)", "without keepdim=True meets"),
        ("return x.sum(-1).sum(-1)", "only the last dimension"),
        ("return x.std(-1)", "say correction=0"),
        ("return x // 2", "has no translation"),
        ("return x[:, 0]", "takes every element"),
        ("return F.rms_norm(x, (8,))", "say eps="),
        ("return F.gelu(x, approximate='fast')", "approximate='fast'"),
        ("return F.silu(x, inplace=True)", "silu with inplace=…"),
        ("return x.to(torch.int8)", "whole numbers"),
        ("return x.where(x > 0, -x)", "torch.where(condition"),
        ("return y * x", "neither a parameter nor a number"),
        ("if x.sum() > 0:\n    return x\nreturn -x", "only assignments and a return"),
        ("y = x", "returns nothing"),
        ("a, b = x.chunk(2)\nreturn a * b", "expressions have no chunk"),
    ],
)
def test_what_has_no_translation_is_named_with_its_line(
    body: str, why: str, tmp_path: Path
) -> None:
    made = translated(tmp_path, body)
    assert made.expression is None
    assert why in made.why_not
    assert made.why_not.startswith(f"{tmp_path}/ref.py:")


def test_of_several_results_the_call_without_a_translation_is_named(tmp_path: Path) -> None:
    body = "w, idx = torch.topk(x, 2)\nreturn w, idx.to(torch.int32)"
    assert translated(tmp_path, body).why_not.endswith(
        "'torch.topk(x, 2)': expressions have no topk"
    )
    pair = translated(tmp_path, "return x * 2, x + 1")
    assert pair.why_not.endswith("a kernel of an expression has one output")
