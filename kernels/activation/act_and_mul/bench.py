"""Benchmark sizes of gated activations: a decode step, a prefill, odd hidden sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

from . import trace

_SMALL = ((1, 2), (3, 64), (5, 111), (2, 1028))
_DECODE = tuple((rows, hidden) for rows in (1, 64) for hidden in (3420, 11008, 14336, 28672))
_PREFILL = ((4096, 3420), (8192, 11008), (16384, 14336), (16384, 768), (2048, 28672))


def cases() -> Iterator[Case]:
    for function in ("silu_and_mul", "gelu_and_mul", "gelu_tanh_and_mul"):
        for rows, hidden in _SMALL:
            for dtype in ("float16", "bfloat16", "float32"):
                yield Case(function, {"rows": rows, "width": 2 * hidden}, dtype)
        for rows, hidden in (*_DECODE, *_PREFILL):
            yield Case(function, {"rows": rows, "width": 2 * hidden}, "bfloat16")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    by_torch = getattr(trace, function).reference

    def flashinfer(input: torch.Tensor) -> Callable[[], torch.Tensor]:
        theirs: Any = getattr(import_module("flashinfer"), function)
        out = input.new_empty((len(input), input.shape[1] // 2))
        return lambda: theirs(input, out=out)

    return {"torch": by_torch, "inductor": compiled(by_torch), "flashinfer": flashinfer}
