"""Ops under second names that FlashInfer has for them."""

from __future__ import annotations

from typing import Any

_OPS = {"nvfp4_block_scale_interleave": "block_scale_interleave"}
__all__ = [*_OPS]  # noqa: PLE0604 each is a str


def __getattr__(name: str) -> Any:
    if name not in _OPS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fictl import ops

    return getattr(ops, _OPS[name])
