"""JIT generator and AOT entry of prefill: one module for each configuration."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

from .._config import Config
from .._tiles import aot_rows


def module(config: Config) -> JitSpec:
    if config.backend == "sm90":
        return module_spec(
            __file__,
            config.parameters,
            backend="sm90",
            archs="9.0a",
            # What a user's functions need is theirs.
            max_spill_bytes=0 if config.user is None else None,
        )
    return module_spec(__file__, config.parameters)


def aot() -> Iterator[JitSpec]:
    """List what most models are served with; the others are built where they are used."""
    for dtype in (torch.bfloat16, torch.float16):
        for paged in (True, False):
            for rows in aot_rows(128):
                yield module(Config(dtype, dtype, dtype, 128, paged, rows))
