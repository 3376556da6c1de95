"""forward() of wrappers, which older programs call: what it says counts, whatever plan() said."""

from __future__ import annotations

from functools import partialmethod
from typing import Any, cast

import torch

from ._arguments import Number
from ._attention import Attention
from ._cache import PagedCache


class _Forward:
    """Of a wrapper: it plans anew where it is told something else."""

    _op: str
    _attention: Attention

    def _ran(
        self, *given: Any, return_lse: bool, said: dict[str, Any], **scales: Any
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        self._attention.replan(self._attention.options.said_again(self._op, **said))
        found = cast("Any", self).run(*given, return_lse=return_lse, **scales)
        return cast("torch.Tensor | tuple[torch.Tensor, torch.Tensor]", found)

    def end_forward(self) -> None:
        """Nothing; older programs call it."""


class RaggedForward(_Forward):
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
        """The older run()."""
        said = {
            "causal": causal,
            "positions": pos_encoding_mode,
            "window_left": window_left,
            "soft_cap": logits_soft_cap,
            "sm_scale": sm_scale,
            "rope_scale": rope_scale,
            "rope_theta": rope_theta,
        }
        return self._ran(q, k, v, return_lse=return_lse, said=said)

    forward_return_lse = partialmethod(forward, return_lse=True)


class PagedForward(_Forward):
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
        """The older run()."""
        said = {
            "causal": causal,
            "positions": pos_encoding_mode,
            "window_left": window_left,
            "soft_cap": logits_soft_cap,
            "sm_scale": sm_scale,
            "rope_scale": rope_scale,
            "rope_theta": rope_theta,
        }
        return self._ran(
            q, paged_kv_cache, return_lse=return_lse, said=said, k_scale=k_scale, v_scale=v_scale
        )

    forward_return_lse = partialmethod(forward, return_lse=True)


class DecodeForward(_Forward):
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
        """The older run()."""
        said = {
            "positions": pos_encoding_mode,
            "window_left": window_left,
            "soft_cap": logits_soft_cap,
            "sm_scale": sm_scale,
            "rope_scale": rope_scale,
            "rope_theta": rope_theta,
        }
        return self._ran(
            q,
            paged_kv_cache,
            return_lse=return_lse,
            said=said,
            q_scale=q_scale,
            k_scale=k_scale,
            v_scale=v_scale,
        )

    forward_return_lse = partialmethod(forward, return_lse=True)
