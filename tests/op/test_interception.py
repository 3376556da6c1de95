"""Interception: in place at once, for ops imported before and after; off, the op is as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fictl.op import interception, op
from fictl.op.watch.call import planned


def twice(x: int, more: int = 1) -> int:
    return 2 * x + more


@pytest.fixture(autouse=True)
def _released() -> Iterator[None]:
    yield
    for interceptor in [*interception._interceptors]:
        interception.release(interceptor)


def declared() -> Any:
    return op(archs=">=8.0", dtypes="f16", mutates="")(twice)


def adding(n: int) -> Callable[..., Any]:
    def interceptor(declaration: Any, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: function(*args) + n

    return interceptor


def test_it_is_around_ops_of_before_and_after_until_it_is_released() -> None:
    before, ten = declared(), adding(10)
    interception.intercept(ten)
    interception.intercept(ten)
    after = declared()
    assert [before(1), after(1)] == [13, 13]
    interception.release(ten)
    assert [before(1), after(1)] == [3, 3]


def test_off_the_wrapper_calls_the_function_itself() -> None:
    called, ten = declared(), adding(10)
    for _ in range(2):
        assert [cell.cell_contents for cell in called.__closure__].count(twice) == 1
        interception.intercept(ten)
        assert twice not in [cell.cell_contents for cell in called.__closure__]
        interception.release(ten)


def test_the_last_one_is_outermost() -> None:
    def doubling(declaration: Any, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: 2 * function(*args)

    called = declared()
    interception.intercept(adding(10))
    interception.intercept(doubling)
    assert called(1) == 2 * 13


def test_arguments_come_by_position_with_defaults() -> None:
    seen: list[tuple[Any, ...]] = []

    def noting(declaration: Any, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: seen.append((declaration.name, *args))

    interception.intercept(noting)
    called = declared()
    called(x=1)
    called(2, more=3)
    assert seen == [("twice", 1, 1), ("twice", 2, 3)]


def test_while_torch_compiles_it_traces_the_op(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.compiler.is_compiling", lambda: True)
    called = declared()
    interception.intercept(adding(10))
    assert called(1) == 3


def test_a_plan_is_remembered_while_somebody_intercepts() -> None:
    class Wrapper:
        def plan(self, pages: int) -> None:
            self.pages = pages

        @op(archs=">=8.0", dtypes="f16", mutates="")
        def run(self, x: int) -> int:
            return self.pages + x

    instance = Wrapper()
    instance.plan(1)
    assert planned(instance) == {}
    interception.intercept(adding(10))
    instance.plan(2)
    assert planned(instance) == {"pages": 2}
    assert instance.run(1) == 13


def test_an_op_that_is_gone_is_not_kept() -> None:
    import gc

    interception.intercept(adding(10))
    gc.collect(1)
    count = len(interception._places)
    called = declared()
    assert len(interception._places) == count + 1
    del called
    gc.collect(1)
    assert len(interception._places) == count
