"""Sizes of head_scale that users meet: a decode step, a prefill, one that fills the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

from .jit import AOT_COLS, TYPES
from .trace import head_scale


def cases() -> Iterator[Case]:
    for dtype in TYPES:
        for rows in (1, 37):
            yield _case(rows, AOT_COLS[0], dtype)
        for rows in (128 * 40, 1 << 19):
            for cols in AOT_COLS:
                yield _case(rows, cols, dtype)


def _case(rows: int, cols: int, dtype: torch.dtype) -> Case:
    sizes = {"tokens": rows, "heads": 2, "head_dim": cols}
    return Case("head_scale", sizes, str(dtype).removeprefix("torch."))


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": head_scale.reference, "inductor": compiled(head_scale.reference)}
