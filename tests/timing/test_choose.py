"""The ladder of timers."""

from __future__ import annotations

import pytest

from fictl.errors import InvalidValue
from fictl.timing.choose import ladder, use_best
from fictl.timing.cupti import Cupti
from fictl.timing.events import Events
from fictl.timing.graph import Graph
from fictl.timing.host import Host
from fictl.timing.timer import LaunchedNothing, Timer, Unusable


class Broken(Timer):
    name = "broken"

    def __enter__(self) -> Timer:
        raise Unusable("it is broken", "mend it")

    def time(self, rotation):
        raise AssertionError


class Works(Broken):
    name = "works"

    def __enter__(self) -> Timer:
        return self

    def remark(self) -> str:
        return "but slowly"


@pytest.mark.parametrize(
    ("timer", "device", "steps"),
    [
        ("auto", "cuda", [Cupti, Graph, Events]),
        ("auto", "cuda:1", [Cupti, Graph, Events]),
        ("events", "cuda", [Events]),
        ("graph,events", "cuda", [Graph, Events]),
        ("auto", "cpu", [Host]),
        ("host", "cpu", [Host]),
    ],
)
def test_ladder(timer, device, steps):
    assert ladder(timer, device) == steps


@pytest.mark.parametrize(
    ("timer", "device", "message"),
    [
        ("stopwatch", "cuda", "'stopwatch' is not a timer"),
        ("graph,", "cuda", "'' is not a timer"),
        ("cupti", "cpu", "'cupti' times a GPU, not the device 'cpu'"),
        ("host", "cuda", "'host' is not a timer"),
    ],
)
def test_a_name_that_is_none_is_refused(timer, device, message):
    with pytest.raises(InvalidValue, match=message):
        ladder(timer, device)


def test_the_first_that_works_is_used_and_says_why_it_was_not_one_before():
    assert use_best([Broken, Works], lambda timer: timer.name) == (
        "works",
        "broken: it is broken; but slowly",
    )


def test_the_only_one_that_was_asked_for_fails_with_its_own_reason():
    with pytest.raises(Unusable) as raised:
        use_best([Broken], lambda timer: timer.name)
    assert (raised.value.message, raised.value.hint) == ("broken: it is broken", "mend it")


def test_one_that_fails_while_it_times_makes_way_too():
    def use(timer: Timer) -> str:
        if isinstance(timer, Works):
            raise Unusable("no longer")
        return "host"

    assert use_best([Works, Host], use) == ("host", "works: no longer")


def test_what_is_wrong_with_the_work_is_not_tried_on_the_next():
    def use(timer: Timer) -> None:
        raise LaunchedNothing(timer.name)

    with pytest.raises(LaunchedNothing, match="works"):
        use_best([Works, Host], use)
