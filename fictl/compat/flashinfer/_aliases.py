"""Ops under second names that FlashInfer has for them."""

from __future__ import annotations

from typing import Any

__all__ = ["nvfp4_block_scale_interleave"]  # noqa: F822 __getattr__ has it

_OPS = {"nvfp4_block_scale_interleave": "block_scale_interleave"}


def __getattr__(name: str) -> Any:
    if name not in _OPS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fictl import ops

    return getattr(ops, _OPS[name])
