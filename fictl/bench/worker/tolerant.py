"""Baselines with tolerances that their author declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from fictl.dtype import parse_dtype
from fictl.errors import UsageError


@dataclass(frozen=True)
class TolerantBaseline:
    """A baseline that may be further from the reference than others."""

    function: Callable[..., Any]
    tolerances: Mapping[str, tuple[float, float]]

    def __call__(self, **inputs: Any) -> Any:
        return self.function(**inputs)


def tolerant(function: Callable[..., Any], **tolerances: tuple[float, float]) -> TolerantBaseline:
    """Make a baseline for bench.py with tolerances of its own: `bfloat16=(relative, absolute)`.

    They stand in place of those that all baselines have; a dtype that is not named has to be exact.
    """
    for dtype, pair in tolerances.items():
        if len(pair) != 2 or not all(isfinite(value) and value >= 0 for value in pair):
            raise UsageError(
                f"the tolerance {pair!r} of {dtype} is not (relative, absolute)",
                "as in tolerant(_torch, bfloat16=(5e-2, 1e-1))",
            )
    named = {parse_dtype(dtype).name: pair for dtype, pair in tolerances.items()}
    return TolerantBaseline(function, named)
