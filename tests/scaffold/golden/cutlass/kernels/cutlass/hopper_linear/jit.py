"""JIT generator and AOT entry of hopper_linear: a module for each dtype and tile."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

heavy_headers = ("cute/", "cutlass/")

_CPP = {torch.bfloat16: "__nv_bfloat16"}
_TILES = ("Large", "Small")


def module(dtype: torch.dtype, tile: str) -> JitSpec:
    if dtype not in _CPP:
        message = "hopper_linear: argument 'a' has dtype"
        raise TypeError(f"{message} {dtype}; accepted: {', '.join(map(str, _CPP))}")
    # CUTLASS has assertions in device code.
    flags = ("-DNDEBUG",)
    parameters = {"dtype": _CPP[dtype], "tile": tile}
    return module_spec(__file__, parameters, extra_cuda_cflags=flags)


def aot() -> Iterator[JitSpec]:
    for dtype, tile in product(_CPP, _TILES):
        yield module(dtype, tile)
