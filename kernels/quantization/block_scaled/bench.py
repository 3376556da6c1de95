"""Sizes of the block-scaled formats that users meet: activations of decode and prefill, weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from . import trace

_TO_FP4 = ("fp4_quantize", "nvfp4_quantize", "mxfp4_quantize")
_FROM_FP4 = ("e2m1_and_ufp8sf_scale_to_float", "mxfp4_dequantize")
_SMALL = ((1, 32), (5, 160), (9, 1056))
_USERS = ((1, 7168), (64, 7168), (4096, 4096), (16384, 7168))
_WEIGHTS = ((4096, 7168),)


def cases() -> Iterator[Case]:
    for function in ("mxfp8_quantize", *_TO_FP4):
        for rows, cols in _SMALL:
            for dtype in ("float16", "bfloat16"):
                yield Case(function, {"rows": rows, "cols": cols}, dtype)
        for rows, cols in _USERS:
            yield Case(function, {"rows": rows, "cols": cols}, "bfloat16")
    for rows, cols in (*_SMALL, *_WEIGHTS):
        for function in _FROM_FP4:
            passing = ("global_scale_tensor",) if function == _FROM_FP4[0] else ()
            yield Case(function, {"rows": rows, "packed": cols // 2}, "uint8", passing)
        yield Case("mxfp8_dequantize", {"rows": rows, "cols": cols}, "float8_e4m3fn")
    for rows, blocks in ((1, 1), (7, 6), (130, 9), (16384, 448)):
        for dtype in ("uint8", "bfloat16"):
            yield Case("block_scale_interleave", {"rows": rows, "blocks": blocks}, dtype)


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """FlashInfer's kernels are for sm_100 and newer; Inductor fuses what fp4 rounds step by step."""
    reference = getattr(trace, function).reference
    if function in _TO_FP4:
        return {"torch": reference}
    return {"torch": reference, "inductor": compiled(reference)}
