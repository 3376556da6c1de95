"""Rows that engines draw from: a decode step's batch, one request, vocabularies of models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

from . import trace

_FUNCTIONS = (
    "sampling_from_probs",
    "top_p_sampling_from_probs",
    "top_k_sampling_from_probs",
    "min_p_sampling_from_probs",
    "top_k_top_p_sampling_from_probs",
)
_SMALL = ((3, 1), (5, 111), (2, 2051))
_DECODE = ((64, 128256), (1, 128256))
_MODELS = ((8, 128256), (256, 128256), (64, 32003), (64, 151936))


def cases() -> Iterator[Case]:
    for function in _FUNCTIONS:
        for rows, vocab in (*_SMALL, *_DECODE, *_MODELS):
            yield Case(function, {"rows": rows, "vocab": vocab}, "float32")
        for dtype in ("float16", "bfloat16"):
            yield Case(function, {"rows": 4, "vocab": 1000}, dtype)


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    by_torch = getattr(trace, function).reference

    def torch_(**inputs: Any) -> torch.Tensor:
        result: torch.Tensor = by_torch(**inputs)
        return result

    return {
        "torch": torch_,
        "inductor": compiled(torch_),
        "flashinfer": lambda **inputs: _flashinfer(function, inputs),
    }


def _flashinfer(function: str, inputs: dict[str, Any]) -> Callable[[], Any]:
    theirs = getattr(import_module("flashinfer.sampling"), function)
    return lambda: theirs(**inputs)
