"""JIT generator and AOT entry of linear: a module for each dtype and backend."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product, starmap

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

_CPP = {torch.bfloat16: "__nv_bfloat16"}
_BACKENDS = ("sm90", "sm80")


def module(dtype: torch.dtype, backend: str) -> JitSpec:
    if dtype not in _CPP:
        message = "linear: argument 'a' has dtype"
        raise TypeError(f"{message} {dtype}; accepted: {', '.join(map(str, _CPP))}")
    return module_spec(__file__, {"dtype": _CPP[dtype]}, backend=backend)


def aot() -> Iterator[JitSpec]:
    yield from starmap(module, product(_CPP, _BACKENDS))
