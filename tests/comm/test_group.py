"""Groups of ranks in one process, and of communicators with mpi4py's names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fictl.comm import Group
from fictl.comm.exchange import RankMissing
from fictl.errors import FictlError


class Communicator:
    """The first of two ranks; the other says the same, or what it is given."""

    def __init__(self, other: Any = None) -> None:
        self._other = other

    def Get_rank(self) -> int:  # noqa: N802
        return 0

    def Get_size(self) -> int:  # noqa: N802
        return 2

    def allgather(self, data: str) -> list[str]:
        return [data, data if self._other is None else json.dumps(self._other)]


def test_values_come_in_the_order_of_ranks() -> None:
    groups = Group.local(3)
    takes = [group.offer(group.rank * 10) for group in reversed(groups)]
    assert [take() for take in takes] == [[0, 10, 20]] * 3


def test_a_rank_that_has_not_come_is_named() -> None:
    first, _, _ = groups = Group.local(3)
    groups[1].offer(1)
    take = first.offer(0)
    with pytest.raises(RankMissing, match="rank 2 did not come to exchange #0") as raised:
        take()
    assert raised.value.ranks == (2,)


@pytest.mark.parametrize("size", [0, 9])
def test_a_group_has_one_to_eight_ranks(size: int) -> None:
    if size == 0:
        assert Group.local(0) == []
    else:
        with pytest.raises(ValueError, match="rank 0 of a group of 9 ranks"):
            Group.local(size)


def test_a_communicator() -> None:
    group = Group.of(Communicator())
    assert (group.rank, group.size, group.offer("x")()) == (0, 2, ["x", "x"])
    group.agree()
    assert Group.of(group) is group


def test_an_error_of_one_rank_is_raised_on_all() -> None:
    with pytest.raises(FictlError, match="rank 1: no memory"):
        Group.of(Communicator("no memory")).agree()


def test_without_torch_distributed() -> None:
    with pytest.raises(FictlError, match=r"torch.distributed is not initialised[\s\S]*Group.local"):
        Group.of()
