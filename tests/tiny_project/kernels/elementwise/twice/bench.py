"""Sizes of twice."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.trace import Case


def cases() -> Iterator[Case]:
    yield Case("twice", {"n": 1}, "int32")
