"""Reference: the torch code that says what an op computes, as its trace will hold it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """`source` is one function called _reference, and what it needs; `imports` go to the top."""

    source: str
    imports: tuple[str, ...] = ()
