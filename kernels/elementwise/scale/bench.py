"""Sizes of scale that users meet: a decode step, a prefill, one that fills the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from .trace import scale


def cases() -> Iterator[Case]:
    for n in (128, 64 * 4096, 4096 * 4096, 16384 * 8192):
        for dtype in ("float16", "bfloat16", "float32"):
            yield Case("scale", {"n": n}, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": scale.reference, "inductor": compiled(scale.reference)}
