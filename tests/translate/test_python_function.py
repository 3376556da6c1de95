"""Functions are found in their files, with their parameters, and what is none is said."""

from __future__ import annotations

import functools
import linecache
import math
from collections.abc import Callable
from typing import Any

import pytest

from fictl.translate import Type, Untranslatable, read_function

SIZE = 64


def typed(q_idx, window: int, scale: float = 1, *, flag=True, size=SIZE):
    """A function."""
    return q_idx


def test_parameters_have_the_types_and_defaults_that_are_said() -> None:
    found = read_function(typed)
    assert found.name == "typed"
    assert [(each.name, each.type, each.default) for each in found.parameters] == [
        ("q_idx", None, None),
        ("window", Type.INT, None),
        ("scale", Type.FLOAT, 1),
        ("flag", Type.BOOL, True),
        ("size", Type.INT, 64),
    ]


def test_a_lambda_is_a_function_where_it_is_alone_in_its_line() -> None:
    one = lambda q: q > 1  # noqa: E731
    assert [each.name for each in read_function(one).parameters] == ["q"]
    pair = (lambda q: q > 1, lambda q: q > 2)
    with pytest.raises(Untranslatable, match="2 functions of these arguments stand in this line"):
        read_function(pair[0])


def test_what_was_typed_at_a_prompt_has_no_source() -> None:
    space: dict[str, Any] = {}
    exec("def mask(q_idx, kv_idx):\n    return q_idx >= kv_idx", space)
    with pytest.raises(Untranslatable, match="the source of mask cannot be read") as caught:
        read_function(space["mask"])
    assert "define it in a file" in caught.value.hint


def test_a_notebooks_cell_has_its_source() -> None:
    text = "def mask(q_idx, kv_idx):\n    return q_idx >= kv_idx\n"
    space: dict[str, Any] = {}
    linecache.cache["<cell 3>"] = (len(text), None, text.splitlines(keepends=True), "<cell 3>")
    exec(compile(text, "<cell 3>", "exec"), space)
    assert len(read_function(space["mask"]).statements) == 1


@pytest.mark.parametrize(
    "given", [math.sin, functools.partial(typed, 1), 3, "q > k", typed.__get__(3)]
)
def test_what_is_no_function_of_python_is_refused(given: object) -> None:
    with pytest.raises(Untranslatable, match="is not a Python function"):
        read_function(given)


def _same(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@_same
def decorated(q):
    return q


def test_decorators_and_stars_are_refused_with_their_place() -> None:
    def starred(q, *more):
        return q

    with pytest.raises(Untranslatable, match=r"decorated: a decorator may change what it computes"):
        read_function(decorated)
    with pytest.raises(Untranslatable, match=r"starred: it takes any number of arguments"):
        assert read_function(starred).parameters


def test_a_default_is_a_number() -> None:
    def worded(q, mode="near"):
        return q

    with pytest.raises(Untranslatable, match="a default is a number"):
        assert read_function(worded).parameters
