"""Sizes of fused_qk_rmsnorm_rope that users meet: the latents of video models, and small ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

from .trace import fused_qk_rmsnorm_rope as trace

_ThreeSizes = tuple[int, int, int]
# Tokens; frames, rows and columns of a video; channels of each; heads of q, k and v.
_SMALL: tuple[tuple[int, _ThreeSizes, _ThreeSizes, _ThreeSizes], ...] = (
    (8, (2, 2, 2), (16, 24, 24), (4, 4, 4)),
    (12, (1, 3, 2), (44, 42, 42), (6, 2, 2)),
)
# Two images; a short video, and one of 81 frames of 480 x 832, which its encoder makes 21 x 30 x 52
# patches, with the heads of a small model and of a large one.
_MODELS: tuple[tuple[int, _ThreeSizes, _ThreeSizes, _ThreeSizes], ...] = (
    (64, (1, 8, 8), (44, 42, 42), (12, 12, 12)),
    (4096, (1, 64, 64), (44, 42, 42), (24, 24, 24)),
    (4095, (21, 15, 13), (44, 42, 42), (12, 12, 12)),
    (32760, (21, 30, 52), (44, 42, 42), (12, 12, 12)),
    (32760, (21, 30, 52), (44, 42, 42), (24, 24, 24)),
)


def cases() -> Iterator[Case]:
    for dtype in ("float16", "bfloat16"):
        yield from (_case(*sizes, dtype) for sizes in _SMALL)
    yield from (_case(*sizes, "bfloat16") for sizes in _MODELS)


def _case(
    tokens: int, patches: _ThreeSizes, channels: _ThreeSizes, heads: _ThreeSizes, dtype: str
) -> Case:
    sizes = {"tokens": tokens, "head_dim": sum(channels)}
    sizes |= dict(zip(("ppf", "pph", "ppw"), patches, strict=True))
    sizes |= {
        f"num_{d}_channels": n for d, n in zip(("frame", "height", "width"), channels, strict=True)
    }
    sizes |= {f"num_heads_{part}": n for part, n in zip("qkv", heads, strict=True)}
    return Case("fused_qk_rmsnorm_rope", sizes, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {
        "torch": trace.reference,
        "inductor": compiled(trace.reference),
        "flashinfer": _flashinfer,
    }


def _flashinfer(qkv: torch.Tensor, **others: Any) -> Callable[[], Any]:
    """FlashInfer rounds to bf16 before it rotates, and may miss the tolerance."""
    flashinfer: Any = import_module("flashinfer.norm")
    dim, tokens = others["head_dim"], len(qkv)
    out = {
        f"{part}_out": qkv.new_empty((tokens, others[f"num_heads_{part}"], dim)) for part in "qkv"
    }
    return lambda: flashinfer.fused_qk_rmsnorm_rope(qkv, **others, **out)
