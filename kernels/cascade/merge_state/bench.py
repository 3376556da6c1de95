"""Sizes of the merges that users meet: two parts of a prefill, the splits of a decode step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

_DTYPES = ("float16", "bfloat16", "float32")
_SMALL = ((1, 1, 8), (3, 5, 64), (2, 4, 111), (5, 3, 192))
_SIZES = ((16384, 32, 128), (4096, 32, 128), (2048, 128, 512), (128, 32, 128), (16, 32, 128))
_SMALL_STATES = ((1, 1, 1, 8), (3, 2, 5, 64), (2, 5, 3, 111), (1, 100, 2, 128))
_STATES = (
    (16384, 2, 32, 128),
    (2048, 8, 32, 128),
    (128, 100, 32, 128),
    (64, 16, 32, 128),
    (1, 128, 32, 128),
)


def cases() -> Iterator[Case]:
    for function in ("merge_state", "merge_state_in_place"):
        for dtype in _DTYPES:
            for sizes in _SMALL:
                yield _case(function, sizes, dtype)
        for sizes in _SIZES:
            yield _case(function, sizes, "bfloat16")
    for dtype in _DTYPES:
        for of_many in _SMALL_STATES:
            yield _case("merge_states", of_many, dtype)
    for of_many in _STATES:
        yield _case("merge_states", of_many, "bfloat16")


def _case(function: str, sizes: tuple[int, ...], dtype: str) -> Case:
    states = ("states",) if function == "merge_states" else ()
    names = ("positions", *states, "heads", "head_dim")
    return Case(function, dict(zip(names, sizes, strict=True)), dtype)


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    ours: dict[str, Callable[..., Any]] = {
        "merge_state": _merge_state,
        "merge_state_in_place": _merge_state_in_place,
        "merge_states": _merge_states,
    }
    by_torch = ours[function]
    return {
        "torch": by_torch,
        "inductor": compiled(by_torch),
        "flashinfer": _flashinfer(function),
    }


def _merge_state(
    v_a: torch.Tensor, s_a: torch.Tensor, v_b: torch.Tensor, s_b: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    most = torch.maximum(s_a, s_b)
    a, b = torch.exp2(s_a - most), torch.exp2(s_b - most)
    v = (a / (a + b)).unsqueeze(-1) * v_a + (b / (a + b)).unsqueeze(-1) * v_b
    return v.to(v_a.dtype), torch.log2(a + b) + most


def _merge_state_in_place(
    v: torch.Tensor,
    s: torch.Tensor,
    v_other: torch.Tensor,
    s_other: torch.Tensor,
    mask: torch.Tensor | None,
) -> None:
    v_merged, s_merged = _merge_state(v, s, v_other, s_other)
    if mask is not None:
        v_merged = torch.where(mask[:, None, None], v_merged, v)
        s_merged = torch.where(mask[:, None], s_merged, s)
    v.copy_(v_merged)
    s.copy_(s_merged)


def _merge_states(v: torch.Tensor, s: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    most = s.amax(1, keepdim=True)
    weights = torch.exp2(s - most)
    total = weights.sum(1, keepdim=True)
    v_merged = ((weights / total).unsqueeze(-1) * v).sum(1)
    return v_merged.to(v.dtype), (torch.log2(total) + most).squeeze(1)


def _flashinfer(function: str) -> Callable[..., Callable[[], Any]]:
    def prepare(**inputs: Any) -> Callable[[], Any]:
        theirs: Any = getattr(import_module("flashinfer"), function)
        return lambda: theirs(**inputs)

    return prepare
