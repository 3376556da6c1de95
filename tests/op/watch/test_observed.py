"""Observers see a call before it runs, after it has, and when it fails; a traced call they do not."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

from fictl.op import declaration
from fictl.op.watch.call import Call
from fictl.op.watch.observed import observed
from fictl.ops import scale


class Notes:
    """An observer that writes down what it sees."""

    def __init__(self, name: str, seen: list[str]) -> None:
        self.name, self.seen = name, seen

    def before(self, call: Call) -> None:
        self.seen.append(f"{self.name} before {call.arguments['x']}")

    def after(self, call: Call, result: Any) -> None:
        self.seen.append(f"{self.name} after {result}")

    def failed(self, call: Call, error: BaseException) -> None:
        self.seen.append(f"{self.name} failed {error!r}")


@pytest.fixture
def seen() -> list[str]:
    return []


def watch(function: Any, seen: list[str], *names: str) -> Any:
    notes = [Notes(name, seen) for name in names or ("a",)]
    return observed(function, declaration(scale), notes)


def test_a_call_is_seen_before_and_after_it_ran(seen: list[str]) -> None:
    def double(x: int) -> int:
        seen.append("runs")
        return x * 2

    assert watch(double, seen)(4) == 8
    assert seen == ["a before 4", "runs", "a after 8"]


def test_the_outermost_observer_is_first_before_and_last_after(seen: list[str]) -> None:
    watch(lambda x: x, seen, "a", "b")(1)
    assert seen == ["a before 1", "b before 1", "b after 1", "a after 1"]


def test_a_call_that_fails_is_seen_and_its_error_goes_on(seen: list[str]) -> None:
    def refuse(x: int) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        watch(refuse, seen)(1)
    assert seen == ["a before 1", "a failed ValueError('no')"]


def test_an_observer_that_refuses_a_call_ends_it_for_those_outside(seen: list[str]) -> None:
    class Refusal(Notes):
        def before(self, call: Call) -> None:
            raise ValueError("no")

    notes = [Notes("outer", seen), Refusal("refusal", seen), Notes("inner", seen)]
    function = observed(lambda x: seen.append("runs"), declaration(scale), notes)
    with pytest.raises(ValueError, match="no"):
        function(1)
    assert seen == ["outer before 1", "outer failed ValueError('no')"]


def test_the_signature_stays(seen: list[str]) -> None:
    assert inspect.signature(watch(scale, seen)) == inspect.signature(scale)


def test_a_call_that_is_being_compiled_is_not_watched(seen: list[str]) -> None:
    double = watch(lambda x: x * 2, seen)
    compiled = torch.compile(double, backend="eager", fullgraph=True)
    assert compiled(torch.tensor(4)).item() == 8
    assert seen == []
