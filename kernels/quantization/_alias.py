"""Second name of block_scale_interleave, which FlashInfer's callers use."""

from __future__ import annotations

from .block_scaled.op import block_scale_interleave as nvfp4_block_scale_interleave

__all__ = ["nvfp4_block_scale_interleave"]
