"""Sizes of route that users meet: routers of models, a decode step to a prefill, and odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from .trace import route

_PLAIN = {"groups": 1, "top_groups": 1, "sigmoid": False}
_SIGMOID = {**_PLAIN, "sigmoid": True}
_GROUPED = {"groups": 8, "top_groups": 4, "sigmoid": True, "scale": 2.5}
# Tokens, experts, top_k, options, and whether there is a bias.
_SMALL = (
    (1, 8, 2, _PLAIN, False),
    (5, 60, 4, _SIGMOID, False),
    (3, 33, 32, _PLAIN, True),
    (9, 256, 8, _GROUPED, True),
    (4, 160, 6, {**_GROUPED, "sigmoid": False}, False),
)
_MODELS = (
    (8, 2, _PLAIN, False),
    (128, 8, _PLAIN, False),
    (384, 8, _SIGMOID, True),
    (256, 8, _GROUPED, True),
)


def cases() -> Iterator[Case]:
    for tokens, *model in _SMALL:
        for dtype in ("float16", "bfloat16", "float32"):
            yield _case(tokens, *model, dtype)
    for model in _MODELS:
        for tokens in (16, 65536):
            yield _case(tokens, *model, "bfloat16")


def _case(
    tokens: int, experts: int, top_k: int, options: dict[str, float], biased: bool, dtype: str
) -> Case:
    sizes = {"tokens": tokens, "experts": experts, "top_k": top_k}
    passing = ("bias",) if biased else ()
    return Case("route", sizes, dtype, passing, options)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": route.reference, "inductor": compiled(route.reference)}
