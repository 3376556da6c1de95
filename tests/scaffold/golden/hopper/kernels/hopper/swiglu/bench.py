"""Sizes of swiglu that users meet: few rows and many, short ones and long, and odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from .trace import swiglu

_SMALL = ((1, 8), (3, 64), (5, 112), (17, 264), (40, 520), (2, 4104))
_LARGE = ((16, 4096), (128, 8192), (184320, 128), (16384, 4096), (8192, 8192), (512, 131072))


def cases() -> Iterator[Case]:
    for rows, cols in _SMALL:
        for dtype in ("bfloat16",):
            yield Case("swiglu", {"rows": rows, "cols": cols}, dtype)
    for rows, cols in _LARGE:
        yield Case("swiglu", {"rows": rows, "cols": cols}, "bfloat16")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": swiglu.reference, "inductor": compiled(swiglu.reference)}
