"""The solution's side of a turn: what a result may be, and where it goes."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from fictl.judge.exchange import memory
from fictl.judge.exchange.layout import ExchangeLayout
from fictl.judge.inside.turn import Misfit, Turn
from tests.judge.judge_runs import definition

X = torch.randn(16, 64)


def made() -> tuple[Turn, torch.Tensor]:
    """A turn, and the place of its output as the referee has it."""
    layout = ExchangeLayout.of({"x": X}, definition(), {"m": 16})
    ours, handle = memory.create(layout.size, "cpu")
    lent = memory.adopt(handle, layout.size, "cpu")
    layout.inputs[0].view(ours).copy_(X)
    place = layout.outputs[0].view(ours)
    place.fill_(float("nan"))
    return Turn(definition(), layout, {"s": 2.0}, lent), place


def returning(result: Any) -> Any:
    """A runnable that returns it, or what it makes of the inputs."""
    function = result if callable(result) else lambda x, s: result
    metadata = SimpleNamespace(destination_passing_style=False)
    return SimpleNamespace(metadata=metadata, call_value_returning=function)


@pytest.mark.parametrize(
    "result",
    [
        lambda x, s: x * s,
        lambda x, s: (x * s,),
        lambda x, s: [x * s],
        lambda x, s: namedtuple("Result", "y")(x * s),  # noqa: PYI024
        lambda x, s: torch.nn.Parameter(x * s),
        lambda x, s: (x * s).t().contiguous().t(),
        lambda x, s: torch._neg_view(-(x * s)),
    ],
    ids=["tensor", "tuple", "list", "named", "parameter", "strided", "negative"],
)
def test_a_plain_result_is_delivered(result: Any) -> None:
    turn, place = made()
    turn.call(returning(result))
    turn.deliver()
    assert torch.equal(place, X * 2)
    assert not turn.changed_since()


class Liar(torch.Tensor):
    pass


class Late(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        return iter([X * 2])


def marked() -> torch.Tensor:
    y = X * 2
    y.clone = lambda: X  # type: ignore[method-assign, assignment]
    return y


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (X.as_subclass(Liar), "REWARD_HACK"),
        (Late([X]), "REWARD_HACK"),
        (marked(), "REWARD_HACK"),
        ("right", "INCORRECT_DTYPE"),
        (X.double(), "INCORRECT_DTYPE"),
        (X.to_sparse(), "INCORRECT_DTYPE"),
        (X[:, 1:], "INCORRECT_SHAPE"),
        ((X, X), "INCORRECT_SHAPE"),
        (None, "INCORRECT_SHAPE"),
        ((), "INCORRECT_SHAPE"),
    ],
)
def test_what_is_no_plain_result_has_a_status(result: Any, status: str) -> None:
    turn, place = made()
    turn.call(returning(result))
    with pytest.raises(Misfit) as raised:
        turn.deliver()
    assert raised.value.status == status
    assert bool(place.isnan().all())
    assert not turn.changed_since()


def test_nothing_is_hung_on_a_turn() -> None:
    turn, _ = made()
    with pytest.raises(AttributeError):
        turn.deliver = lambda: None  # type: ignore[method-assign]


def test_an_input_that_is_returned_is_told() -> None:
    turn, _ = made()
    turn.call(returning(lambda x, s: x.mul_(s)))
    turn.deliver()
    assert turn.aliased() == ("y", "x")


def test_a_result_that_changes_later_is_told() -> None:
    turn, _ = made()
    kept = X * 2
    turn.call(returning(kept))
    turn.deliver()
    kept.zero_()
    assert turn.changed_since() == "y"


def test_no_handle_is_left_open() -> None:
    before = len([*Path("/proc/self/fd").iterdir()])
    turn, place = made()
    del turn, place
    assert len([*Path("/proc/self/fd").iterdir()]) <= before + 1
