"""Sizes of shift."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.trace import Case


def cases() -> Iterator[Case]:
    yield Case("shift", {"n": 40}, "int32")
