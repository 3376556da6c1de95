"""Flat inputs become plan and run: of a function, of a class, or as the trace says."""

from __future__ import annotations

from typing import Any

import pytest

from fictl.errors import InvalidValue, UsageError
from fictl.op import op
from fictl.op.bound import bind
from fictl.trace import Scalar, TraceTemplate


def _trace(**changes: Any) -> TraceTemplate:
    return TraceTemplate({}, {"x": Scalar("int32")}, {}, lambda x: x, **changes)


DECLARED = {"archs": ">=8.0", "dtypes": "f16", "mutates": "out"}


@op(**DECLARED, trace=_trace())
def add(x: int, y: int = 1) -> int:
    return x + y


class Scaled:
    """Multiplies by what was planned, and notes the calls."""

    calls: list[str] = []  # noqa: RUF012 the test reads it

    def plan(self, x: int, shared: int = 0) -> None:
        self.calls.append(f"plan {x} {shared}")
        self._x = x

    @op(**DECLARED, trace=_trace())
    def run(self, y: int, shared: int = 0) -> int:
        self.calls.append(f"run {y} {shared}")
        return self._x * y


@pytest.fixture(autouse=True)
def calls() -> list[str]:
    Scaled.calls.clear()
    return Scaled.calls


def test_a_function_has_a_plan_that_does_nothing() -> None:
    plan, run = bind(add, {"x": 2})
    assert plan() is None
    assert run() == 3


def test_the_inputs_of_a_class_go_to_the_step_that_names_them(calls: list[str]) -> None:
    plan, run = bind(Scaled, {"y": 5, "x": 3})
    assert calls == []
    plan()
    assert [run(), run()] == [15, 15]
    assert calls == ["plan 3 0", "run 5 0", "run 5 0"]


def test_an_input_that_both_steps_name_goes_to_both(calls: list[str]) -> None:
    plan, run = bind(Scaled, {"x": 3, "y": 5, "shared": 7})
    plan()
    run()
    assert calls == ["plan 3 7", "run 5 7"]


def test_two_bindings_share_no_object() -> None:
    first, second = (bind(Scaled, {"x": x, "y": 1}) for x in (2, 3))
    for plan, _ in (first, second):
        plan()
    assert (first[1](), second[1]()) == (2, 3)


def test_a_class_that_plans_nothing_needs_no_plan() -> None:
    class Constant:
        @op(**DECLARED, trace=_trace())
        def run(self, x: int) -> int:
            return x

    plan, run = bind(Constant, {"x": 4})
    plan()
    assert run() == 4


def test_the_bind_of_the_trace_comes_first() -> None:
    trace = _trace(bind=lambda inputs: (lambda: None, lambda: -inputs["x"]))

    @op(**DECLARED, trace=trace)
    def negate(somehow: int) -> int:
        return somehow

    assert bind(negate, {"x": 4})[1]() == -4


@pytest.mark.parametrize("api", [add, Scaled])
def test_an_unknown_input_is_refused_by_name(api: Any) -> None:
    with pytest.raises(InvalidValue, match=r"(add|Scaled) has no parameter 'z'.*\n.*it has x, "):
        bind(api, {"x": 1, "y": 2, "z": 3})


@pytest.mark.parametrize("api", [add, Scaled])
def test_a_missing_input_is_refused_by_name(api: Any) -> None:
    with pytest.raises(InvalidValue, match=r"(add|Scaled) lacks the input 'x'.*\n.*given are y"):
        bind(api, {"y": 1})


def test_what_is_no_op_is_refused() -> None:
    with pytest.raises(UsageError, match="is not an op"):
        bind(len, {})
