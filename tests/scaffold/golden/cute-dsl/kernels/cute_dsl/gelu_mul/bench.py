"""Sizes of gelu_mul that users meet: a decode step, a prefill, one that fills the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from .trace import gelu_mul


def cases() -> Iterator[Case]:
    for n in (1, 64, 4096, 16384):
        for dtype in ("float16", "bfloat16", "float32"):
            yield Case("gelu_mul", {"n": n, "d": 4096}, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": gelu_mul.reference, "inductor": compiled(gelu_mul.reference)}
