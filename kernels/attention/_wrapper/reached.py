"""Reached: what engines read of a wrapper by FlashInfer's private names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .._arguments.options import Options
from .._plan.attention import Attention
from .buffers import Buffers


class Reached:
    """Options of the last plan, and the buffers for CUDA graphs. vLLM compares them with a layer's."""

    if TYPE_CHECKING:

        @property
        def _attention(self) -> Attention: ...
        @property
        def _buffers(self) -> Buffers: ...

    def _planned(self, name: str) -> Options:
        try:
            return self._attention.options
        except RuntimeError as error:  # As with FlashInfer, where plan() brings the attribute.
            raise AttributeError(f"{name}: {error}", name=name, obj=self) from None

    @property
    def _window_left(self) -> int:
        return self._planned("_window_left").window_left

    @property
    def _logits_soft_cap(self) -> float:
        return self._planned("_logits_soft_cap").soft_cap

    @property
    def _sm_scale(self) -> float:
        return self._planned("_sm_scale").sm_scale

    @property
    def _causal(self) -> bool:
        return self._planned("_causal").causal

    @property
    def _custom_mask_buf(self) -> torch.Tensor | None:
        return self._buffers.get("custom_mask_buf", None)

    @property
    def _float_workspace_buffer(self) -> torch.Tensor | None:
        return self._attention.lent

    @property
    def _int_workspace_buffer(self) -> torch.Tensor:
        return self._attention.list_memory

    @property
    def _pin_memory_int_workspace_buffer(self) -> None:
        """None: each plan() has memory of its own on the host, which nobody writes to afterwards."""
