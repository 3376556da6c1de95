"""One size of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist

from fictl.bench import Ranks
from fictl.trace import Case

_SUMS = ("right", "wrong", "unwritten", "failing", "absent", "dying")


def cases() -> Iterator[Case]:
    for function in _SUMS:
        yield Case(function, {"n": 256}, "float32")
    yield Case("right", {"n": 512}, "float32")
    yield Case("gathering", {"ranks": 1, "n": 256}, "float32")


def ranks(function: str) -> Ranks:
    if function == "gathering":
        return Ranks("all_gather", of="out", axis="ranks")
    return Ranks("all_reduce")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    return {"torch": _summed, "halved": lambda x: _summed(x) / 2} if function == "right" else {}


def _summed(x: torch.Tensor) -> torch.Tensor:
    total = x.clone()
    dist.all_reduce(total)
    return total
