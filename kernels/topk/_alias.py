"""Second name of top_k, which FlashInfer's callers use."""

from __future__ import annotations

from .top_k.op import top_k as topk

__all__ = ["topk"]
