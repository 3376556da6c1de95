"""How many copies make a cold cache, and what is done where they cannot."""

from __future__ import annotations

import pytest

from fictl.timing.rotation import Memory, Rotation, copies, rotations
from fictl.timing.side import Side

MIB = 1 << 20


@pytest.mark.parametrize(
    ("working_set", "count"),
    [
        (1 * MIB, 125),  # 2.5 times L2
        (3 * MIB, 42),  # rounded up
        (1 << 30, 2),  # more than L2 by itself: still another input
        (64 << 10, 128),  # the most
        (9 << 30, 1),  # two do not fit
        (0, 2),  # nobody knows
    ],
)
def test_copies(working_set, count):
    assert copies(working_set, Memory(l2=50 * MIB, free=10 << 30)) == count


def side(working_set: int) -> Side:
    return Side(lambda index: lambda: index, working_set)


def test_a_rotation_of_more_than_twice_l2_is_cold_without_a_flush(gpu):
    (rotation,) = rotations({"a": side(MIB)}, "cuda", cold=True)
    assert (len(rotation.calls), rotation.cold, rotation.flush) == (125, True, None)


@pytest.mark.parametrize("working_set", [0, 1024])
def test_where_copies_cannot_fill_l2_it_is_flushed(gpu, working_set):
    (rotation,) = rotations({"a": side(working_set)}, "cuda", cold=True)
    assert rotation.cold
    assert rotation.flush is not None
    assert len(rotation.calls) <= 16


def test_sides_against_each_other_are_made_cold_in_one_way(gpu):
    made = rotations({"a": side(MIB), "b": side(0)}, "cuda", cold=True)
    assert all(rotation.flush for rotation in made)


def test_each_call_is_over_its_own_copy(gpu):
    (rotation,) = rotations({"a": side(MIB)}, "cuda", cold=True)
    assert [call() for call in rotation.calls] == list(range(125))


def test_sides_share_the_free_memory(gpu):
    sides = {name: side(1 << 30) for name in "abcdefgh"}
    assert [len(each.calls) for each in rotations(sides, "cuda", cold=True)] == [1] * 8


def test_warm_is_one_copy_and_says_so(gpu):
    (rotation,) = rotations({"a": side(MIB)}, "cuda", cold=False)
    assert (len(rotation.calls), rotation.cold, rotation.flush) == (1, False, None)


def test_a_cpu_has_no_l2_that_anybody_asked_about():
    (rotation,) = rotations({"a": side(MIB)}, "cpu", cold=True)
    assert (len(rotation.calls), rotation.cold) == (1, False)


@pytest.mark.parametrize(
    ("seconds", "calls"),
    [
        (1.0, 4),  # long enough as it is
        (0.1, 12),  # whole repeats
        (1e-9, 128),  # the most
    ],
)
def test_a_short_rotation_is_repeated_until_it_can_be_timed(seconds, calls):
    rotation = Rotation("op", (lambda: None,) * 4, cold=True).lasting(1.0, seconds)
    assert (len(rotation.calls), rotation.copies) == (calls, 4)
