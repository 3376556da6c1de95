"""The ways to all-reduce, and the sizes from which each is the fastest.

A way follows from bytes and ranks alone, never from what one rank sees: ranks that took different
ways would wait for one another for ever.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["AllReduceStrategy"]

_KIB, _MIB = 1 << 10, 1 << 20


class AllReduceStrategy(NamedTuple):
    """A protocol (0: Lamport's, without flags; 1: flags), and whether the sum takes two hops.

    Results are the same, bit by bit.
    """

    protocol: int
    two_shot: bool


LAMPORT = AllReduceStrategy(0, False)
ONE_SHOT = AllReduceStrategy(1, False)
LAMPORT_TWO_SHOT = AllReduceStrategy(0, True)
TWO_SHOT = AllReduceStrategy(1, True)
NAMED: Mapping[str, AllReduceStrategy] = {
    "lamport": LAMPORT,
    "one-shot": ONE_SHOT,
    "lamport-two-shot": LAMPORT_TWO_SHOT,
    "two-shot": TWO_SHOT,
}


class Crossovers(NamedTuple):
    """The most bytes of an input for which each way is the fastest; 0: for none.

    Larger ones take TWO_SHOT. Of two ranks both ways send the same bytes, and one hop is less.
    """

    lamport: int
    one_shot: int
    lamport_two_shot: int

    def chosen(self, nbytes: int) -> AllReduceStrategy:
        return _ORDER[bisect_left((self[0], max(self[:2]), max(self)), nbytes)]

    @property
    def most_by_lamport(self) -> int:
        return max(self.lamport, self.lamport_two_shot)


_ORDER = (LAMPORT, ONE_SHOT, LAMPORT_TWO_SHOT, TWO_SHOT)
_UNLIMITED = 1 << 62
# By topology, and by the ranks from which a row holds. Two and four ranks of NVLink were measured on
# four H200 (tests/perf/crossovers.py); of two, Lamport's protocol was the fastest way up to 16 MiB,
# of four from 512 KiB on in two hops. What it has no buffers for takes flags: its buffers are three.
# Rows of other numbers of ranks are calculated from those, by the bytes that cross the links.
_Rows = Mapping[int, Crossovers]
# Ranks that share a GPU: there is no link, and all ranks' writes go to one memory.
_ON_ONE_GPU: _Rows = {
    1: Crossovers(1 * _MIB, _UNLIMITED, 0),
    3: Crossovers(256 * _KIB, 0, 1 * _MIB),
}
_SUMS: Mapping[str, _Rows] = {
    "nvlink": {
        1: Crossovers(16 * _MIB, _UNLIMITED, 0),
        3: Crossovers(768 * _KIB, 0, 16 * _MIB),
        4: Crossovers(512 * _KIB, 0, 16 * _MIB),
        5: Crossovers(256 * _KIB, 0, 16 * _MIB),
    },
    "one-gpu": _ON_ONE_GPU,
}
# With a norm, which is of whole rows, the second hop pays later.
_NORMS: Mapping[str, _Rows] = {
    "nvlink": {
        1: Crossovers(16 * _MIB, _UNLIMITED, 0),
        3: Crossovers(1536 * _KIB, 0, 4 * _MIB),
        4: Crossovers(1 * _MIB, 0, 4 * _MIB),
        5: Crossovers(512 * _KIB, 0, 4 * _MIB),
    },
    "one-gpu": _ON_ONE_GPU,
}


def crossovers(topology: str, ranks: int, *, with_norm: bool = False) -> Crossovers:
    rows = (_NORMS if with_norm else _SUMS)[topology]
    return rows[max(least for least in rows if least <= ranks)]
