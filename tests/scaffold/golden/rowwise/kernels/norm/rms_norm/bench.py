"""Sizes of rms_norm that users meet: few rows and many, short ones and long, and odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from .trace import rms_norm

_SMALL = ((1, 8), (3, 64), (5, 111), (9, 128), (4, 1000), (2, 4098))
_LARGE = ((16, 4096), (128, 8192), (184320, 128), (16384, 4096), (8192, 8192), (512, 131072))


def cases() -> Iterator[Case]:
    for rows, cols in _SMALL:
        for dtype in ("float16", "bfloat16", "float32"):
            yield Case("rms_norm", {"rows": rows, "hidden": cols}, dtype)
    for rows, cols in _LARGE:
        yield Case("rms_norm", {"rows": rows, "hidden": cols}, "bfloat16")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": rms_norm.reference, "inductor": compiled(rms_norm.reference)}
