"""Sizes of all of them, and who else doubles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from fictl.trace import Case

_ALONE = (
    "right",
    "wrong",
    "silent",
    "spoilt",
    "remembering",
    "late",
    "returning",
    "hanging",
    "dying",
    "inplace",
)


def cases() -> Iterator[Case]:
    for function in _ALONE:
        yield Case(function, {"n": 64}, "float32")
    yield Case("right", {"n": 1 << 20}, "float32")
    yield Case("Planned", {"n": 64, "one": 1}, "float32")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    return {"torch": _add, "tripled": _tripled, "prepared": _prepared, "absent": _absent}


def _add(input: torch.Tensor, factor: torch.Tensor | None = None) -> torch.Tensor:
    return input + input


def _tripled(input: torch.Tensor) -> torch.Tensor:
    return input * 3


def _prepared(input: torch.Tensor) -> Callable[[], torch.Tensor]:
    out = torch.empty_like(input)
    return lambda: torch.add(input, input, out=out)


def _absent(input: torch.Tensor) -> torch.Tensor:
    import a_package_that_nobody_has  # type: ignore[import-not-found]

    return a_package_that_nobody_has.double(input)
