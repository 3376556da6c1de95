"""Sizes of swiglu that users meet: a decode step, a prefill, one that fills the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from .trace import swiglu


def cases() -> Iterator[Case]:
    for n in (128, 64 * 4096, 4096 * 4096):
        for dtype in ("float16", "bfloat16", "float32"):
            yield Case("swiglu", {"n": n}, dtype)
    for n in (64 * 14336, 16384 * 14336):
        yield Case("swiglu", {"n": n}, "bfloat16")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": swiglu.reference, "inductor": compiled(swiglu.reference)}
