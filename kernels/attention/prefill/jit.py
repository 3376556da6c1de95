"""JIT generator and AOT entry of prefill: one module for each configuration."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

from .._config import EIGHTHS, Config
from .._sm90_tiles import choose, of_blocks
from .._tiles import Tile, aot_rows


def module(config: Config) -> JitSpec:
    if config.backend == "sm90":
        return module_spec(
            __file__,
            config.parameters,
            backend="sm90",
            archs="9.0a",
            max_spill_bytes=_most_spilled(config),
        )
    return module_spec(__file__, config.parameters)


def _most_spilled(config: Config) -> int | None:
    """Return what a build may spill: nothing, but an address of fp8's producer, read once a tile.

    Sums of a stage beside those of all keys leave no register. What a user's functions need is
    theirs.
    """
    if config.user is not None:
        return None
    return 16 if config.q in EIGHTHS else 0


def aot() -> Iterator[JitSpec]:
    """List what most models are served with; the others are built where they are used.

    Heads of 64 (gpt-oss), block-sparse attention and bidirectional ranges are in bf16 alone.
    """
    for dtype in (torch.bfloat16, torch.float16):
        for paged in (True, False):
            yield from _of_heads(dtype, 128, paged)
    dtype = torch.bfloat16
    for paged in (True, False):
        yield from _of_heads(dtype, 64, paged)
    for head_dim in (64, 128):
        for rows in aot_rows(head_dim):
            yield module(Config(dtype, dtype, dtype, head_dim, False, rows, runs=True))
            yield module(Config(dtype, dtype, dtype, head_dim, True, rows, seen="CausalOrRange"))
        large = choose(head_dim, head_dim, group=1, simple=False, copied=True)
        for tile in (*of_blocks(head_dim, head_dim), large):
            yield _on_hopper(dtype, head_dim, False, tile, runs=True)


def _of_heads(dtype: torch.dtype, head_dim: int, paged: bool) -> Iterator[JitSpec]:
    for rows in aot_rows(head_dim):
        yield module(Config(dtype, dtype, dtype, head_dim, paged, rows))
    known = choose(head_dim, head_dim, group=1, simple=True)
    yield _on_hopper(dtype, head_dim, paged, known)


def _on_hopper(
    dtype: torch.dtype, head_dim: int, paged: bool, tile: Tile, runs: bool = False
) -> JitSpec:
    sizes = (head_dim, paged, tile.rows)
    return module(Config(dtype, dtype, dtype, *sizes, backend="sm90", keys=tile.keys, runs=runs))
