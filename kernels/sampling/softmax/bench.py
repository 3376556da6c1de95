"""Sizes of softmax that users meet: vocabularies of models, few requests and many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

_SMALL = ((3, 111), (2, 1024))
_BATCHES = (1, 8, 64, 256)
_VOCABULARIES = (32003, 128256, 151936)


def cases() -> Iterator[Case]:
    for dtype in ("float16", "bfloat16", "float32"):
        for rows, vocab in _SMALL:
            yield _case(rows, vocab, dtype)
    for vocab in _VOCABULARIES:
        for rows in _BATCHES:
            yield _case(rows, vocab, "float32")
    for rows in (1, 64):
        yield _case(rows, 128256, "bfloat16")
    yield _case(64, 128256, "float32", "temperature")


def _case(rows: int, vocab: int, dtype: str, *passing: str) -> Case:
    return Case("softmax", {"rows": rows, "vocab": vocab}, dtype, passing)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch, "inductor": compiled(_torch), "flashinfer": _flashinfer}


def _torch(logits: torch.Tensor, temperature: torch.Tensor | None) -> torch.Tensor:
    if temperature is not None:
        logits = logits / temperature[:, None]
    return torch.softmax(logits, dim=-1, dtype=torch.float32)


def _flashinfer(logits: torch.Tensor, temperature: torch.Tensor | None) -> Callable[[], Any]:
    theirs: Any = import_module("flashinfer.sampling").softmax
    return lambda: theirs(logits, temperature)
