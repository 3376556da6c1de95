"""JIT generator and AOT entry of linear: a module for each dtype."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

_CPP = {torch.float16: "__half", torch.bfloat16: "__nv_bfloat16"}


def module(dtype: torch.dtype) -> JitSpec:
    if dtype not in _CPP:
        message = "linear: argument 'a' has dtype"
        raise TypeError(f"{message} {dtype}; accepted: {', '.join(map(str, _CPP))}")
    return module_spec(__file__, {"dtype": _CPP[dtype]})


def aot() -> Iterator[JitSpec]:
    yield from map(module, _CPP)
