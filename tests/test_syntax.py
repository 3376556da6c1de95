"""Python text of users: what is nested too deeply is told, and never ends the stack."""

from __future__ import annotations

import ast
import copy

import pytest

from fictl.syntax import TooDeep, parse_expression, parse_module

_DEEP = {
    "sum": "x" + " + x" * 2000,
    "minus": "-" * 2000 + "x",
    "not": "not " * 2000 + "x",
    "power": "x**" * 2000 + "x",
    "attributes": "x" + ".x" * 2000,
    "if": "x if x else " * 900 + "x",
    "lambda": "lambda: " * 900 + "x",
    "calls": "x" + "()" * 2000,
    "long": "'" + "x" * 20_000 + "'",
    "very": "-" * 9_999,
}


@pytest.mark.parametrize("text", _DEEP.values(), ids=_DEEP)
def test_an_expression_that_is_too_deep_is_told(text: str) -> None:
    with pytest.raises((TooDeep, SyntaxError)):
        parse_expression(text)


@pytest.mark.parametrize("text", ["(" * 150 + "x" + ")" * 150, "[" * 150 + "]" * 150, "(" * 3000])
def test_parentheses_are_told_by_python_or_by_us(text: str) -> None:
    try:
        tree = parse_expression(text)
    except (TooDeep, SyntaxError):
        return
    assert ast.unparse(tree)


def test_what_may_be_parsed_can_be_walked_and_written() -> None:
    tree = parse_expression("x" + " + x" * 95)
    assert ast.unparse(copy.deepcopy(tree)).count("x") == 96


def test_a_module_that_is_too_deep_is_told() -> None:
    with pytest.raises(TooDeep, match="nested more than"):
        parse_module("a = x" + ".x" * 100_000)
    assert parse_module("a = 1\nif a:\n    b = 2\n").body
