"""Guesses about what an expression calls."""

from __future__ import annotations

import pytest

from fictl.scaffold.new.guess import guessed_functions
from fictl.scaffold.new.request import NewOpRequest


def request(expression: str) -> NewOpRequest:
    return NewOpRequest("op", expression=expression)


def test_gelu_says_which_it_is_and_how_the_other_is_written() -> None:
    (guess,) = guessed_functions(request("y * gelu (x)"))
    assert "by the error function" in guess.text
    assert guess.instead == "--expr 'y * gelu_tanh(x)'"


@pytest.mark.parametrize("expression", ["gelu_tanh(x)", "silu(x)", "my_gelu * x", ""])
def test_nothing_else_does(expression: str) -> None:
    assert guessed_functions(request(expression)) == ()
