"""The sentence about a collective that does not end, from what each rank has called."""

from __future__ import annotations

import pytest

from fictl.ranks.flight import CollectiveCall
from fictl.ranks.verdict import RankState, judge


def state(*names: str, waits: bool = False, at: str = "", doing: str = "") -> RankState:
    """A rank with these calls; it waits in the last one, or not."""
    count = len(names)
    calls = [
        CollectiveCall(n, "default_pg", n, name, is_done=not waits or n < count, shape="4")
        for n, name in enumerate(names, 1)
    ]
    return RankState(tuple(calls), at, doing)


def text(*states: RankState | None, ended: tuple[int, ...] = ()) -> str:
    waits = next(rank for rank, one in enumerate(states) if one and not one.calls[-1].is_done)
    own = states[waits]
    assert own is not None
    return judge(dict(enumerate(states)), (waits, own.calls[-1]), ended).text


SUM = "all_reduce"
WAITS = state(SUM, SUM, waits=True)


@pytest.mark.parametrize(
    ("states", "ended", "sentence"),
    [
        (
            (WAITS, WAITS, state(SUM, at="a.py:7")),
            (),
            "rank 2 did not call all_reduce #2: its last call was all_reduce #1, it is at a.py:7",
        ),
        (
            (WAITS, state()),
            (),
            "rank 1 did not call all_reduce #2: it has called none",
        ),
        ((WAITS, None), (1,), "rank 1 did not call all_reduce #2: its process has ended"),
        ((WAITS, None), (), "rank 1 did not call all_reduce #2: it does not answer"),
        (
            (WAITS, state(SUM, "broadcast", waits=True)),
            (),
            "rank 1 called broadcast #2 where rank 0 called all_reduce #2",
        ),
        (
            (WAITS, state(SUM, "broadcast", doing="waits at the end of the test")),
            (),
            "rank 1 called broadcast #2 where rank 0 called all_reduce #2",
        ),
        ((WAITS, WAITS), (), "all 2 ranks called all_reduce #2, and it does not end"),
        (
            (state(SUM, SUM, SUM, waits=True), WAITS, state(SUM)),
            (),
            "rank 2 did not call all_reduce #2: its last call was all_reduce #1",
        ),
        (
            (WAITS, *[state(SUM)] * 6),
            (),
            "ranks 1, 2, 3, 4 and 2 more did not call all_reduce #2: "
            "its last call was all_reduce #1",
        ),
    ],
    ids=[
        *("silent", "nothing yet", "ended", "mute", "another", "another and on"),
        *("all", "earliest", "many"),
    ],
)
def test_the_sentence(
    states: tuple[RankState | None, ...], ended: tuple[int, ...], sentence: str
) -> None:
    assert text(*states, ended=ended) == sentence


def test_other_sizes_of_one_collective() -> None:
    small = CollectiveCall(1, "default_pg", 1, SUM, shape="4", at="a.py:3")
    large = CollectiveCall(1, "default_pg", 1, SUM, shape="1024x2", at="a.py:5")
    verdict = judge({0: RankState((small,)), 1: RankState((large,))}, (0, small))
    assert verdict.text == (
        "rank 1 called all_reduce #1 with 1024x2 (a.py:5) where rank 0 called it with 4 (a.py:3)"
    )


def test_calls_of_another_group_are_other_calls() -> None:
    other = CollectiveCall(9, "pairs", 2, "broadcast", is_done=True)
    mute = RankState((*state(SUM).calls, other))
    assert text(WAITS, mute).startswith("rank 1 did not call all_reduce #2")


def test_a_line_for_each_rank() -> None:
    verdict = judge(
        {0: WAITS, 1: state(SUM, at="b.py:9"), 2: None, 3: None}, (0, WAITS.calls[1]), (3,)
    )
    assert verdict.details == (
        "rank 0 waits in all_reduce #2",
        "rank 1: last call all_reduce #1, at b.py:9",
        "rank 2: no answer",
        "rank 3: its process has ended",
    )
