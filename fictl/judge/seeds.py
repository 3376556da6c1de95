"""Seeds of turns: the same for the same run, and none can be told from another."""

from __future__ import annotations

import hashlib


class Seeds:
    """Of one workload, each used once."""

    def __init__(self, seed: int, workload: str) -> None:
        self._seed, self._workload, self._next = seed, workload, 0

    def take(self, count: int) -> list[int]:
        made = [self._of(number) for number in range(self._next, self._next + count)]
        self._next += count
        return made

    def _of(self, number: int) -> int:
        text = f"{self._seed}/{self._workload}/{number}".encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 2
