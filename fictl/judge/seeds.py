"""Seeds of turns: reproducible for one run seed, and not predictable from each other."""

from __future__ import annotations

import hashlib


class Seeds:
    """Sequence of the seeds of one workload; no seed is used twice."""

    def __init__(self, seed: int, workload: str) -> None:
        self._seed, self._workload, self._next = seed, workload, 0

    def take(self, count: int) -> list[int]:
        seeds = [self._seed_at(number) for number in range(self._next, self._next + count)]
        self._next += count
        return seeds

    def _seed_at(self, number: int) -> int:
        text = f"{self._seed}/{self._workload}/{number}".encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 2
