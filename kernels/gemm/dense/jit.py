"""JIT generator and AOT entry of dense: one module for each configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

from .._config import Config, config_of
from .._tactics import TACTICS

_AHEAD_OF_TIME = ("sm90", "sm80")


def module(*parameters: Any) -> JitSpec:
    """Make the module of a Config, given as its fields."""
    config = Config(*parameters)
    return module_spec(
        __file__,
        config.parameters,
        backend=config.backend,
        max_spill_bytes=_most_spilled(config),
    )


def _most_spilled(config: Config) -> int | None:
    """Return what a build may spill: no sums, but a few addresses where fp32 outputs leave no room.

    Those are loaded again once a tile, outside of the main loop.
    """
    if config.backend != "sm90":
        return None
    return 256 if config.out == torch.float32 else 0


def aot() -> Iterator[JitSpec]:
    """List linear layers of bf16, with every tile; the others are built where they are used."""
    bf16 = torch.bfloat16
    for backend in _AHEAD_OF_TIME:
        for known in TACTICS[backend]:
            rows = has = (False, False)
            yield module(*config_of(bf16, bf16, rows, "none", has, backend, known.tactic))
