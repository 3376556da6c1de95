"""JIT generator and AOT entry of renorm: one module for each dtype of the rows."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

from .._types import TYPES, cpp_type


def module(dtype: torch.dtype) -> JitSpec:
    return module_spec(__file__, {"type": cpp_type(dtype)})


def aot() -> Iterator[JitSpec]:
    return map(module, TYPES)
