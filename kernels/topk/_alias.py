"""A second name, under which FlashInfer has top_k too."""

from __future__ import annotations

from .top_k.op import top_k as topk

__all__ = ["topk"]
