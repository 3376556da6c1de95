"""Sizes of drawing from logits that users meet: vocabularies of models, few requests and many."""

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
_FILTERED = ((1, 128256), (64, 128256), (256, 151936))


def cases() -> Iterator[Case]:
    for function in ("sampling_from_logits", "top_k_top_p_sampling_from_logits"):
        for dtype in ("float16", "float32"):
            for rows, vocab in _SMALL:
                yield _case(function, rows, vocab, dtype)
    yield _case("sampling_from_logits", 3, 111, "bfloat16")
    for vocab in _VOCABULARIES:
        for rows in _BATCHES:
            yield _case("sampling_from_logits", rows, vocab)
    for rows in (1, 64):
        yield _case("sampling_from_logits", rows, 128256, "bfloat16")
    for rows, vocab in _FILTERED:
        yield _case("top_k_top_p_sampling_from_logits", rows, vocab)


def _case(function: str, rows: int, vocab: int, dtype: str = "float32") -> Case:
    return Case(function, {"rows": rows, "vocab": vocab}, dtype)


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    by_torch = _all if function == "sampling_from_logits" else _likeliest
    return {
        "torch": by_torch,
        "inductor": compiled(by_torch),
        "flashinfer": _flashinfer(function),
    }


def _all(logits: torch.Tensor, **draws: Any) -> torch.Tensor:
    """Draw as multinomial does, without its check of the probabilities on the host."""
    probs = torch.softmax(logits, dim=-1, dtype=torch.float32)
    return (probs / torch.empty_like(probs).exponential_(1)).argmax(dim=-1).int()


def _likeliest(logits: torch.Tensor, top_k: int, top_p: float, **draws: Any) -> torch.Tensor:
    values, tokens = logits.float().topk(min(top_k, logits.shape[-1]))
    probs = torch.softmax(values, dim=-1)
    probs = torch.where(probs.cumsum(dim=-1) - probs < top_p, probs, 0.0)
    drawn = (probs / torch.empty_like(probs).exponential_(1)).argmax(dim=-1, keepdim=True)
    return tokens.gather(1, drawn)[:, 0].int()


def _flashinfer(function: str) -> Callable[..., Callable[[], Any]]:
    def prepare(**inputs: Any) -> Callable[[], Any]:
        theirs: Any = getattr(import_module("flashinfer.sampling"), function)
        return lambda: theirs(**inputs)

    return prepare
