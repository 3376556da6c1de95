"""JIT generator and AOT entry of head_scale: one module for each dtype and length of a row."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

TYPES = {
    torch.float16: "__half",
    torch.bfloat16: "__nv_bfloat16",
    torch.float32: "float",
}
AOT_COLS = (64, 128)


def module(dtype: torch.dtype, cols: int) -> JitSpec:
    """config.jinja gets its names from here; one that it does not know is an error."""
    if dtype not in TYPES:
        given, *accepted = (str(each).removeprefix("torch.") for each in (dtype, *TYPES))
        wrong = f"head_scale: argument 'x' has dtype {given}"
        raise TypeError(f"{wrong}; accepted: {', '.join(accepted)}")
    if cols < 1:
        raise ValueError(f"head_scale: argument 'x' has rows of {cols} elements")
    # 16 bytes, or what a row is a multiple of.
    vec = gcd(cols, 16 // dtype.itemsize)
    return module_spec(__file__, {"type": TYPES[dtype], "cols": cols, "vec": vec})


def aot() -> Iterator[JitSpec]:
    for dtype in TYPES:
        for cols in AOT_COLS:
            yield module(dtype, cols)
