"""Sizes of quantize_rows that users meet: activations of a decode step and a prefill, and odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

from .trace import quantize_rows

# Rows, elements of a row, elements of a group.
_SMALL = ((1, 8, 8), (5, 300, 100), (9, 512, 128), (3, 2568, 2568))
_LARGE = ((64, 7168, 128), (4096, 4096, 32), (16384, 7168, 128), (16384, 7168, 7168))


def cases() -> Iterator[Case]:
    for sizes in _SMALL:
        for dtype in ("float16", "bfloat16", "float32"):
            yield _case(*sizes, dtype)
    for sizes in _LARGE:
        yield _case(*sizes, "bfloat16")


def _case(rows: int, cols: int, group_size: int, dtype: str) -> Case:
    sizes = {"tokens": rows, "hidden": cols, "group_size": group_size}
    return Case("quantize_rows", sizes, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch, "inductor": compiled(_torch)}


def _torch(x: torch.Tensor, group_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    values, scales = quantize_rows.reference(x.float(), group_size)
    return values.to(torch.float8_e4m3fn), scales
