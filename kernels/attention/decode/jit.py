"""JIT generator and AOT entry of decode: one module for each configuration."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

from .._config import Config


def module(config: Config) -> JitSpec:
    return module_spec(__file__, config.parameters)


def aot() -> Iterator[JitSpec]:
    """What most models are served with: the others are built where they are used."""
    for dtype in (torch.bfloat16, torch.float16):
        for group in (1, 2):
            yield module(Config(dtype, dtype, dtype, 128, True, group))
