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
# By topology, and by the ranks from which a row holds. Two ranks of NVLink were measured on two
# H200: up to 4 MiB Lamport's protocol was the fastest way, above it flags in one hop. Rows of more
# ranks are calculated from link bandwidth, latency and measurements of four H200 with kernels of
# others: `fictl bench all_reduce --gpus N` with each strategy is what settles them.
_TABLE: Mapping[str, Mapping[int, Crossovers]] = {
    "nvlink": {
        1: Crossovers(16 * _MIB, _UNLIMITED, 0),
        3: Crossovers(384 * _KIB, 0, 4 * _MIB),
        4: Crossovers(256 * _KIB, 0, 16 * _MIB),
        5: Crossovers(128 * _KIB, 0, 4 * _MIB),
    },
    # Ranks that share a GPU: there is no link, and all ranks' writes go to one memory.
    "one-gpu": {
        1: Crossovers(1 * _MIB, _UNLIMITED, 0),
        3: Crossovers(256 * _KIB, 0, 1 * _MIB),
    },
}


def crossovers(topology: str, ranks: int) -> Crossovers:
    rows = _TABLE[topology]
    return rows[max(least for least in rows if least <= ranks)]
