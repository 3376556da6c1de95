"""JIT generator and AOT entry of dense: one module for each configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

from .._config import Config, config_of
from .._tactics import TACTICS, Tactic

_AHEAD_OF_TIME = ("sm90", "sm80")
# mm_bf16 and bmm_bf16 with contiguous right sides, linear_silu with a bias, gemm_alpha_beta.
_OTHERS = (
    ((False, True), "none", (False, False), Tactic(128, 256, "cooperative")),
    ((False, True), "none", (False, False), Tactic(128, 128, "pingpong")),
    ((False, False), "silu", (True, False), Tactic(128, 128, "pingpong", cluster=2)),
    ((False, False), "none", (False, True), Tactic(64, 32, "pingpong", swap=True, panels=2)),
)


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
    """List linear layers of bf16, with every tile, and one tile of each other function; what else
    there is is built where it is used.
    """
    bf16 = torch.bfloat16
    for rows, activation, has, tactic in _OTHERS:
        yield module(*config_of(bf16, bf16, rows, activation, has, "sm90", tactic))
    for backend in _AHEAD_OF_TIME:
        for known in TACTICS[backend]:
            rows = has = (False, False)
            yield module(*config_of(bf16, bf16, rows, "none", has, backend, known.tactic))
