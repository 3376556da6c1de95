"""BatchAttentionWithAttentionSinkWrapper: prefill in pages, with the arguments of FlashInfer's sinks."""

from __future__ import annotations

from functools import partialmethod

import torch

from ._arguments.cache import PagedCache
from ._arguments.dtypes import Dtype
from ._arguments.numbers import Number, number
from .prefill.op import BatchPrefillWithPagedKVCacheWrapper

__all__ = ["BatchAttentionWithAttentionSinkWrapper"]


class BatchAttentionWithAttentionSinkWrapper(BatchPrefillWithPagedKVCacheWrapper):
    """Attention of a batch's queries to keys in pages, and to a sink: a key without a value.

    pos_encoding_mode, use_fp16_qk_reduction, q_data_type, kv_data_type, head_dim_qk, head_dim_vo,
        window_left: plan()'s alone, as nothing is compiled before; looked at no more.
    The other arguments, and plan(), are BatchPrefillWithPagedKVCacheWrapper's.
    """

    def __init__(
        self,
        float_workspace_buffer: torch.Tensor,
        kv_layout: str = "NHD",
        use_cuda_graph: bool = False,
        qo_indptr_buf: torch.Tensor | None = None,
        paged_kv_indptr_buf: torch.Tensor | None = None,
        paged_kv_indices_buf: torch.Tensor | None = None,
        paged_kv_last_page_len_buf: torch.Tensor | None = None,
        custom_mask_buf: torch.Tensor | None = None,
        mask_indptr_buf: torch.Tensor | None = None,
        backend: str = "auto",
        pos_encoding_mode: str = "NONE",
        use_fp16_qk_reduction: bool = False,
        q_data_type: Dtype = torch.bfloat16,
        kv_data_type: Dtype = torch.bfloat16,
        head_dim_qk: int = 128,
        head_dim_vo: int = 128,
        window_left: int = -1,
    ) -> None:
        super().__init__(
            float_workspace_buffer,
            kv_layout,
            use_cuda_graph,
            qo_indptr_buf,
            paged_kv_indptr_buf,
            paged_kv_indices_buf,
            paged_kv_last_page_len_buf,
            custom_mask_buf,
            mask_indptr_buf,
            backend,
        )

    # FlashInfer's has two arguments where its parent's has scales of heads.
    def run(  # type: ignore[override]
        self,
        q: torch.Tensor,
        paged_kv_cache: PagedCache,
        sink: torch.Tensor,
        sm_scale: Number,
        *,
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        out: torch.Tensor | None = None,
        lse: torch.Tensor | None = None,
        return_lse: bool = False,
        enable_pdl: bool | None = None,
        window_left: int | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Attention of the planned batch: the result, or (that, lse), lse to base 2.

        sink: (num_qo_heads,), fp32: the logit of each head's sink, which is in the sum of the softmax
            and in lse.
        sm_scale: the factor of q·k, in place of plan()'s.
        The other arguments are BatchPrefillWithPagedKVCacheWrapper.run's.
        """
        planned = self._attention.work.options.sm_scale
        factor = number(self._op, "sm_scale", sm_scale) / planned
        further = 1.0 if q_scale is None else number(self._op, "q_scale", q_scale)
        return super().run(
            q,
            paged_kv_cache,
            q_scale=factor * further,
            k_scale=k_scale,
            v_scale=v_scale,
            out=out,
            lse=lse,
            return_lse=return_lse,
            enable_pdl=enable_pdl,
            window_left=window_left,
            sinks=sink,
        )

    run_return_lse = partialmethod(run, return_lse=True)
