"""Sizes of the ropes that users meet: heads of models, few tokens and many, odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

from . import trace

_SEGMENTS = ("apply_rope", "apply_llama31_rope")
_POS_IDS = ("apply_rope_pos_ids", "apply_llama31_rope_pos_ids")
_TABLE = "apply_rope_with_cos_sin_cache"
# Tokens, heads of q and of k, values a head.
_SMALL = ((5, 3, 2, 64), (7, 2, 1, 20))
_PREFILL = (16384, 32, 8, 128)
_DECODE = ((64, 32, 8, 128), (1, 32, 8, 128))
_MODELS = ((8192, 64, 8, 128), (8192, 28, 4, 128), (16384, 16, 16, 256), (16384, 32, 32, 80))
_ROWS = 131072  # of a table


def cases() -> Iterator[Case]:
    for function in (name + place for name in _SEGMENTS for place in ("", "_inplace")):
        for sizes in (_SMALL[0], _PREFILL):
            yield _case(function, sizes, len_indptr=4 if sizes in _SMALL else 17)
    for function in (name + place for name in _POS_IDS for place in ("", "_inplace")):
        for sizes in (_SMALL[0], _PREFILL, *_DECODE):
            yield _case(function, sizes)
    for function in (_TABLE, _TABLE + "_inplace"):
        for tokens, q_heads, k_heads, size in (_SMALL[0], _PREFILL, *_DECODE):
            rows = 100 if size != 128 else _ROWS
            yield Case(
                function,
                {
                    "nnz": tokens,
                    "q_size": q_heads * size,
                    "k_size": k_heads * size,
                    "head_size": size,
                    "max_seq_len": rows,
                    "rotary_dim": size if size != 64 else 32,
                },
                "bfloat16",
            )
    for sizes in _MODELS:
        yield _case("apply_rope_pos_ids_inplace", sizes)
    for dtype in ("float16", "float32"):
        for sizes in _SMALL:
            yield _case("apply_rope_pos_ids", sizes, dtype)


def _case(function: str, sizes: tuple[int, ...], dtype: str = "bfloat16", **others: int) -> Case:
    names = ("nnz", "num_q_heads", "num_k_heads", "head_dim")
    return Case(function, {**dict(zip(names, sizes, strict=True)), **others}, dtype)


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    def torch_(**inputs: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return _torch(function, inputs)

    return {
        "torch": torch_,
        "inductor": compiled(torch_),
        "flashinfer": lambda **inputs: _flashinfer(function, inputs),
    }


def _torch(function: str, inputs: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute in fp32, rounded once; not in place."""
    q, k = ("query", "key") if function.startswith(_TABLE) else ("q", "k")
    wide = {**inputs, q: inputs[q].float(), k: inputs[k].float()}
    q_out, k_out = getattr(trace, function).reference(**wide)
    return q_out.to(inputs[q].dtype), k_out.to(inputs[k].dtype)


def _flashinfer(function: str, inputs: dict[str, Any]) -> Callable[[], Any]:
    theirs = getattr(import_module("flashinfer"), function)
    if not function.endswith("_inplace"):
        return lambda: theirs(**inputs)
    written = tuple(inputs[name] for name in getattr(trace, function).outputs)

    def in_place() -> tuple[Any, ...]:
        theirs(**inputs)
        return written

    return in_place
