"""Sizes of scale that users meet: a decode step, a prefill, one that fills the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.trace import Case


def cases() -> Iterator[Case]:
    for n in (128, 64 * 4096, 4096 * 4096, 16384 * 8192):
        for dtype in ("float16", "bfloat16", "float32"):
            yield Case("scale", {"n": n}, dtype)
