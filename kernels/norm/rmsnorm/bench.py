"""Sizes of rmsnorm that users meet: hidden sizes of models, few rows and many; heads; odd sizes."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.trace import Case

_SMALL = ((1, 8), (3, 64), (5, 111), (9, 128), (4, 1000), (2, 4098))
_DECODE = (1, 16, 128)
_HIDDEN = (2048, 4096, 5120, 7168, 8192, 16384)
_PREFILL = ((16384, 4096), (4096, 7168), (8192, 8192), (8192, 4098))
_HEADS = ((128 * 40, 128), (4608 * 48, 128))


def cases() -> Iterator[Case]:
    for rows, hidden in _SMALL:
        for dtype in ("float16", "bfloat16", "float32"):
            yield Case("rmsnorm", {"rows": rows, "hidden": hidden}, dtype)
    decode = ((rows, hidden) for rows in _DECODE for hidden in _HIDDEN)
    for rows, hidden in (*decode, *_HEADS, *_PREFILL):
        yield Case("rmsnorm", {"rows": rows, "hidden": hidden}, "bfloat16")
