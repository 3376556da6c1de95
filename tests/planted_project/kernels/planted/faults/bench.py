"""One size of each."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.trace import Case

_NAMES = (
    "out_of_bounds",
    "shared_race",
    "unwritten",
    "lost_threads",
    "spilling",
    "local_array",
)


def cases() -> Iterator[Case]:
    for name in _NAMES:
        yield Case(name, {"n": 1000}, "float32")
