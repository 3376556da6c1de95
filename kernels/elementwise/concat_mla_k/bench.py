"""Sizes of concat_mla_k that users meet: DeepSeek's heads, all or a share; a step to a long prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.trace import Case

# Tokens, heads, and the sizes of the two parts.
_SMALL = (((2, 2, 16, 8), "bfloat16"), ((3, 5, 7, 3), "float8_e4m3fn"))
_TOKENS = (1, 64, 1024, 8192, 32768)
_ALL, _SHARE = 128, 16  # heads; FlashInfer has 128 alone


def cases() -> Iterator[Case]:
    for sizes, dtype in _SMALL:
        yield _case(*sizes, dtype)
    for tokens in _TOKENS:
        yield _case(tokens, _ALL, 128, 64, "bfloat16")
    yield _case(8192, _ALL, 128, 64, "float8_e4m3fn")
    yield _case(8192, _SHARE, 128, 64, "bfloat16")


def _case(tokens: int, heads: int, nope_dim: int, rope_dim: int, dtype: str) -> Case:
    sizes = {"tokens": tokens, "heads": heads, "nope_dim": nope_dim, "rope_dim": rope_dim}
    return Case("concat_mla_k", sizes, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch, "flashinfer": _flashinfer}


def _torch(k_nope: torch.Tensor, k_rope: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Two copies into k, as engines without a kernel of their own do it."""
    k, nope_dim = _room(k_nope, k_rope), k_nope.shape[-1]

    def run() -> torch.Tensor:
        k[..., :nope_dim] = k_nope
        k[..., nope_dim:] = k_rope
        return k

    return run


def _flashinfer(k_nope: torch.Tensor, k_rope: torch.Tensor) -> Callable[[], torch.Tensor]:
    concat: Any = import_module("flashinfer.concat_ops").concat_mla_k
    k = _room(k_nope, k_rope)

    def run() -> torch.Tensor:
        concat(k, k_nope, k_rope)
        return k

    return run


def _room(k_nope: torch.Tensor, k_rope: torch.Tensor) -> torch.Tensor:
    return k_nope.new_empty((*k_nope.shape[:2], k_nope.shape[2] + k_rope.shape[2]))
