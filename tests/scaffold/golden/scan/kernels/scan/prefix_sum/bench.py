"""Sizes of prefix_sum that users meet: many rows and few, short ones and long, and odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.trace import Case

from .trace import prefix_sum

_SMALL = ((1, 8), (5, 111), (3, 1000), (2, 9001))
_LARGE = ((65536, 256), (16384, 4096), (1024, 65536), (16, 1 << 20), (1, 1 << 24))


def cases() -> Iterator[Case]:
    for rows, cols in _SMALL:
        for dtype in ("float16", "bfloat16", "float32"):
            yield _case(rows, cols, dtype, exclusive=False)
        yield _case(rows, cols, "bfloat16", exclusive=True)
    for rows, cols in _LARGE:
        yield _case(rows, cols, "bfloat16", exclusive=False)


def _case(rows: int, cols: int, dtype: str, *, exclusive: bool) -> Case:
    sizes = {"rows": rows, "cols": cols}
    return Case("prefix_sum", sizes, dtype, scalars={"exclusive": exclusive})


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": prefix_sum.reference}
