"""Functions and classes that are made to be like newer ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import pytest

from fictl.op.notebook.renewal import renewed


def decorated(function: Callable[[], int], times: int) -> Callable[[], int]:
    def wrapper() -> int:
        return times * function()

    return wrapper


def test_a_function_keeps_its_identity_and_takes_everything_else() -> None:
    def old(x: int = 1) -> int:
        return x

    def new(x: int = 2, *, y: int = 3) -> int:
        """New."""
        return x * y

    new.mark = "new"  # type: ignore[attr-defined]
    assert renewed(old, new) is old
    assert old() == 6
    assert (old.__doc__, vars(old)) == ("New.", {"mark": "new"})


def test_a_wrapper_calls_the_new_function_with_what_the_new_decorator_got() -> None:
    old = decorated(lambda: 1, 1)
    assert renewed(old, decorated(lambda: 2, 10)) is old
    assert old() == 20


def test_a_function_with_other_variables_around_it_cannot_be_renewed() -> None:
    def plain() -> int:
        return 1

    wrapped = decorated(plain, 2)
    assert renewed(plain, wrapped) is wrapped
    assert plain() == 1


def test_methods_that_call_super_work_on_objects_of_before() -> None:
    class Parent:
        def value(self) -> int:
            return 1

    def make(added: int) -> type:
        class Child(Parent):
            def value(self) -> int:
                return super().value() + added

        return Child

    kept = make(1)
    child = kept()
    assert renewed(kept, make(5)) is kept
    assert child.value() == 6


def test_a_method_that_was_removed_is_gone() -> None:
    class Old:
        def gone(self) -> None: ...

    class New:
        pass

    assert not hasattr(renewed(Old, New), "gone")


def test_a_frozen_dataclass_takes_new_fields() -> None:
    @dataclass(frozen=True)
    class Old:
        a: int

    @dataclass(frozen=True)
    class New:
        a: int
        b: int

    kept = renewed(Old, New)
    assert kept is Old
    assert (kept(1, 2), kept(1, 2).b) == (kept(1, 2), 2)


@pytest.mark.parametrize("new", [1, "text", None, Enum("Kind", "A B")])
def test_what_is_neither_is_replaced(new: object) -> None:
    assert renewed(lambda: 1, new) is new
