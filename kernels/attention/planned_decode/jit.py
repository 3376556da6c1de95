"""JIT generator and AOT entry: one module for each configuration."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

from .._config import Config
from .._tiles import DECODE_ROWS


def module(config: Config) -> JitSpec:
    return module_spec(__file__, config.parameters)


def aot() -> Iterator[JitSpec]:
    """List what most models are served with; the others are built where they are used."""
    # Heads of 64 are those of gpt-oss.
    for dtype, head_dim in ((torch.bfloat16, 128), (torch.float16, 128), (torch.bfloat16, 64)):
        for keys in (dtype, torch.float8_e4m3fn):
            yield module(Config(dtype, keys, dtype, head_dim, True, DECODE_ROWS))
