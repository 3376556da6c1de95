"""RaggedPrefill: how a wrapper of keys that lie behind one another is made."""

from __future__ import annotations

from typing import Any

import torch

from .._variant.variant import Variant
from .prefill import PrefillWrapper


class RaggedPrefill(PrefillWrapper):
    """BatchPrefillWithRaggedKVCacheWrapper but for plan and run."""

    def __init__(
        self,
        float_workspace_buffer: torch.Tensor,
        kv_layout: str = "NHD",
        use_cuda_graph: bool = False,
        qo_indptr_buf: torch.Tensor | None = None,
        kv_indptr_buf: torch.Tensor | None = None,
        custom_mask_buf: torch.Tensor | None = None,
        mask_indptr_buf: torch.Tensor | None = None,
        backend: str = "auto",
        jit_args: list[Any] | None = None,
        jit_kwargs: dict[str, Any] | None = None,
        variant_owns_mask: bool = False,
        *,
        variant: Variant | None = None,
    ) -> None:
        self._set_up(
            float_workspace_buffer,
            kv_layout,
            paged=False,
            graph=use_cuda_graph,
            buffers={"qo_indptr_buf": qo_indptr_buf, "kv_indptr_buf": kv_indptr_buf},
            custom_mask_buf=custom_mask_buf,
            backend=backend,
            variant=variant,
            jit_args=jit_args,
            jit_kwargs=jit_kwargs,
            variant_owns_mask=variant_owns_mask,
        )
