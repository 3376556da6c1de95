"""Sizes of twice: two of one key, one that is too large for the emulated device."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.trace import Case


def cases() -> Iterator[Case]:
    for rows in (5, 7, 1 << 20):
        yield Case("twice", {"n": rows, "d": 8}, "float32")
    yield Case("twice", {"n": 5, "d": 8}, "float16")
