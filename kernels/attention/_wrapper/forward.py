"""forward() of wrappers, which older programs call; its options win over those of plan()."""

from __future__ import annotations

from functools import partialmethod
from typing import Any, cast

import torch

from .._arguments.cache import PagedCache
from .._arguments.numbers import Number
from .._plan.attention import Attention


class _Forward:
    """forward() of a wrapper: it plans again if it is told something else."""

    _op: str
    _attention: Attention

    def _run_again(
        self, *tensors: Any, return_lse: bool, scores: dict[str, Any], **scales: Any
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        self._attention.replan(self._attention.options.changed(self._op, **scores))
        results = cast("Any", self).run(*tensors, return_lse=return_lse, **scales)
        return cast("torch.Tensor | tuple[torch.Tensor, torch.Tensor]", results)

    def end_forward(self) -> None:
        """Do nothing; older programs call it."""


class RaggedForward(_Forward):
    """forward() for keys that lie behind one another."""

    def forward(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        causal: bool = False,
        pos_encoding_mode: str = "NONE",
        use_fp16_qk_reduction: bool = False,
        window_left: int = -1,
        logits_soft_cap: float | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        *,
        return_lse: bool = False,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Run; the older name."""
        scores = {
            "causal": causal,
            "positions": pos_encoding_mode,
            "window_left": window_left,
            "soft_cap": logits_soft_cap,
            "sm_scale": sm_scale,
            "rope_scale": rope_scale,
            "rope_theta": rope_theta,
        }
        return self._run_again(q, k, v, return_lse=return_lse, scores=scores)

    forward_return_lse = partialmethod(forward, return_lse=True)


class PagedForward(_Forward):
    """forward() for keys in pages."""

    def forward(
        self,
        q: torch.Tensor,
        paged_kv_cache: PagedCache,
        causal: bool = False,
        pos_encoding_mode: str = "NONE",
        use_fp16_qk_reduction: bool = False,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        window_left: int = -1,
        logits_soft_cap: float | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        *,
        return_lse: bool = False,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Run; the older name."""
        scores = {
            "causal": causal,
            "positions": pos_encoding_mode,
            "window_left": window_left,
            "soft_cap": logits_soft_cap,
            "sm_scale": sm_scale,
            "rope_scale": rope_scale,
            "rope_theta": rope_theta,
        }
        return self._run_again(
            q,
            paged_kv_cache,
            return_lse=return_lse,
            scores=scores,
            k_scale=k_scale,
            v_scale=v_scale,
        )

    forward_return_lse = partialmethod(forward, return_lse=True)


class DecodeForward(_Forward):
    """forward() of decoding."""

    def forward(
        self,
        q: torch.Tensor,
        paged_kv_cache: PagedCache,
        pos_encoding_mode: str = "NONE",
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        window_left: int = -1,
        logits_soft_cap: float | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        *,
        return_lse: bool = False,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Run; the older name."""
        scores = {
            "positions": pos_encoding_mode,
            "window_left": window_left,
            "soft_cap": logits_soft_cap,
            "sm_scale": sm_scale,
            "rope_scale": rope_scale,
            "rope_theta": rope_theta,
        }
        return self._run_again(
            q,
            paged_kv_cache,
            return_lse=return_lse,
            scores=scores,
            q_scale=q_scale,
            k_scale=k_scale,
            v_scale=v_scale,
        )

    forward_return_lse = partialmethod(forward, return_lse=True)
