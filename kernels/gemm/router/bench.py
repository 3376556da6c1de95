"""Products of a decoding step: the routers of models, and small projections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

_SMALL = ((1, 16, 64), (5, 33, 72), (17, 40, 264))
_PROJECTIONS = ((1, 4096, 2880), (16, 128, 2880), (64, 512, 2880))
_ROUTERS = {
    "mm_M1_16_K7168_N128": (128, 7168),
    "mm_M1_16_K7168_N256": (256, 7168),
    "mm_M1_16_K7168_N256_bf16": (256, 7168),
    "mm_M1_16_K7168_N384": (384, 7168),
    "mm_M1_16_K7168_N384_bf16": (384, 7168),
    "mm_M1_16_K7168_N896": (896, 7168),
    "mm_M1_16_K7168_N896_bf16": (896, 7168),
    "mm_M1_16_K6144_N256": (256, 6144),
}


def cases() -> Iterator[Case]:
    for m, n, k in (*_SMALL, *_PROJECTIONS):
        yield Case("tinygemm_bf16", {"m": m, "n": n, "k": k}, "bfloat16")
    yield Case("tinygemm_bf16", {"m": 5, "n": 33, "k": 72}, "bfloat16", passing=("bias",))
    for name, (n, k) in _ROUTERS.items():
        for m in (1, 16):
            yield Case(name, {"m": m, "n": n, "k": k}, "bfloat16")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    by_torch = _tiny if function == "tinygemm_bf16" else _scores
    return {
        "torch": by_torch,
        "inductor": compiled(by_torch),
        "flashinfer": lambda **inputs: _flashinfer(function, inputs),
    }


def _tiny(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    result: torch.Tensor = torch.nn.functional.linear(input, weight, bias)
    return result


def _scores(mat_a: torch.Tensor, mat_b: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = mat_a @ mat_b
    return result


def _flashinfer(function: str, inputs: dict[str, Any]) -> Callable[[], Any]:
    theirs = getattr(import_module("flashinfer"), function)
    if function == "tinygemm_bf16":
        a, b = inputs["input"], inputs["weight"]
    else:
        a, b = inputs["mat_a"], inputs["mat_b"].t().contiguous().t()
    is_fp32 = function in _ROUTERS and not function.endswith("bf16")
    columns = len(b) if function == "tinygemm_bf16" else b.shape[1]
    out: torch.Tensor = a.new_empty(
        (len(a), columns), dtype=torch.float32 if is_fp32 else torch.bfloat16
    )
    others = [inputs["bias"]] if function == "tinygemm_bf16" else []

    def run() -> torch.Tensor:
        theirs(a, b, out, *others)
        return out

    return run
