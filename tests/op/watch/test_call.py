"""What a call says of itself to those who watch."""

from __future__ import annotations

from typing import Any

import pytest

from fictl.op import declaration
from fictl.op.watch.call import Call, planned, remembering
from fictl.ops import scale


class Sum:
    @remembering
    def plan(self, indptr: Any, chunk: int = 64) -> str:
        return "planned"

    def run(self, input: Any, out: Any = None) -> Any:
        return out


def call_of(function: Any, *args: Any, **kwargs: Any) -> Call:
    return Call(declaration(scale), function, args, kwargs)


def test_arguments_have_the_names_of_parameters_and_their_defaults() -> None:
    call = call_of(lambda input, factor=2.0, *, out=None: out, 1, out=3)
    assert call.arguments == {"input": 1, "factor": 2.0, "out": 3}


def test_calls_are_numbered_in_their_order() -> None:
    first, second = call_of(scale), call_of(scale)
    assert second.sequence == first.sequence + 1


def test_what_plan_was_given_comes_before_what_run_is_given() -> None:
    sums = Sum()
    assert sums.plan("indptr") == "planned"
    call = call_of(Sum.run, sums, "input")
    assert list(call.arguments.items()) == [
        ("indptr", "indptr"),
        ("chunk", 64),
        ("input", "input"),
        ("out", None),
    ]


def test_the_last_plan_counts() -> None:
    sums = Sum()
    sums.plan("old", 8)
    sums.plan("new")
    assert planned(sums) == {"indptr": "new", "chunk": 64}


def test_a_plan_that_fails_is_not_remembered() -> None:
    class Refusing:
        @remembering
        def plan(self, indptr: Any) -> None:
            raise ValueError("no")

    refusing = Refusing()
    with pytest.raises(ValueError, match="no"):
        refusing.plan("bad")
    assert planned(refusing) == {}


def test_an_object_without_plan_has_planned_nothing() -> None:
    assert planned(object()) == {}
