"""Sizes of l2_norm that users meet: few rows and many, short ones and long, and odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from .trace import l2_norm

_SMALL = ((1, 8), (3, 64), (5, 111), (9, 128), (4, 1000), (2, 4098))
_LARGE = ((16, 4096), (184320, 128), (16384, 4096), (4096, 32768), (64, 1 << 20), (8, 1 << 22))


def cases() -> Iterator[Case]:
    for rows, cols in _SMALL:
        for dtype in ("float16", "bfloat16", "float32"):
            yield Case("l2_norm", {"rows": rows, "cols": cols}, dtype)
    for rows, cols in _LARGE:
        yield Case("l2_norm", {"rows": rows, "cols": cols}, "bfloat16")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": l2_norm.reference, "inductor": compiled(l2_norm.reference)}
