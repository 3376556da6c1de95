"""Sizes of min_p that users meet: vocabularies of models, one row and many, and odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from .trace import min_p

_SMALL = ((1, 1), (3, 111), (5, 520), (2, 4099))
_LARGE = ((1, 128256), (8, 128256), (64, 32003), (64, 128256), (256, 151936))


def cases() -> Iterator[Case]:
    for rows, cols in _SMALL:
        for dtype in ("float16", "bfloat16", "float32"):
            yield Case("min_p", {"draws": rows, "rows": rows, "vocab": cols}, dtype)
    for rows, cols in _LARGE:
        yield Case("min_p", {"draws": rows, "rows": rows, "vocab": cols}, "float32")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": min_p.reference, "inductor": compiled(min_p.reference)}
