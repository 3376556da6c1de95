"""A class is complete when its run and its plan are in place, under all their names."""

from __future__ import annotations

from functools import partialmethod
from typing import Any

from fictl.op import declaration
from fictl.op.run_of_class import RunOfClass
from fictl.op.watch.call import Call, remembering
from fictl.op.watch.observed import observed
from fictl.ops import scale


class Notes:
    """An observer that keeps what the last call was given."""

    def __init__(self) -> None:
        self.seen: dict[str, Any] = {}

    def before(self, call: Call) -> None:
        self.seen = dict(call.arguments)

    def after(self, call: Call, result: Any) -> None:
        pass

    def failed(self, call: Call, error: BaseException) -> None:
        pass


NOTES = Notes()


def _run(function: Any) -> Any:
    """As `@op` makes it where something watches."""
    made: Any = observed(function, declaration(scale), [NOTES])
    made.op = declaration(scale)
    return RunOfClass(made, [remembering])


class Sum:
    def plan(self, x: int) -> None:
        self.x = x

    @_run
    def run(self, y: int, twice: bool = False) -> int:
        return (self.x + y) * (2 if twice else 1)

    begin_forward = plan
    forward = run
    run_twice = partialmethod(run, twice=True)


def test_run_is_a_method_and_sees_what_plan_was_given() -> None:
    sums = Sum()
    sums.plan(7)
    assert sums.run(1) == 8
    assert NOTES.seen == {"x": 7, "y": 1, "twice": False}
    assert declaration(Sum) is declaration(scale)


def test_other_names_of_both_are_the_same_methods() -> None:
    assert Sum.forward is Sum.run
    assert Sum.begin_forward is Sum.plan
    sums = Sum()
    sums.begin_forward(3)
    assert sums.forward(1) == 4
    assert NOTES.seen["x"] == 3


def test_what_the_body_of_the_class_makes_of_run_works() -> None:
    sums = Sum()
    sums.plan(2)
    assert sums.run_twice(1) == 6
    assert NOTES.seen == {"x": 2, "y": 1, "twice": True}


def test_a_plan_that_is_inherited_is_left_to_its_class() -> None:
    class Child(Sum):
        @_run
        def run(self, y: int, twice: bool = False) -> int:
            return -self.x

    assert Child.plan is Sum.plan


def test_a_class_needs_no_plan() -> None:
    class Plain:
        @_run
        def run(self, y: int) -> int:
            return y

    assert Plain().run(4) == 4
