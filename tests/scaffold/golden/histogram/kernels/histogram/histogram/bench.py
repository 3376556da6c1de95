"""Sizes of histogram that users meet: a whole tensor, many rows, few bins and many, and odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.trace import Case

from .trace import histogram

# Rows, elements of a row, bins.
_SMALL = ((1, 8, 1), (3, 111, 7), (5, 1000, 256), (2, 9001, 3000), (1, 640, 9000))
_LARGE = ((1, 1 << 26, 256), (1, 1 << 26, 4096), (4096, 16384, 64), (65536, 1024, 256))


def cases() -> Iterator[Case]:
    for sizes in _SMALL:
        for dtype in ("float16", "bfloat16", "float32"):
            yield _case(*sizes, dtype)
    for sizes in _LARGE:
        yield _case(*sizes, "bfloat16")


def _case(rows: int, cols: int, bins: int, dtype: str) -> Case:
    """Count normal random numbers, and a few that are outside."""
    sizes = {"rows": rows, "cols": cols, "bins": bins}
    return Case("histogram", sizes, dtype, scalars={"low": -3.0, "high": 3.0})


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": histogram.reference}
