"""PagedPrefill: how a wrapper of keys in pages is made, and how large its workspaces have to be."""

from __future__ import annotations

from typing import Any

import torch

from .._arguments.block_scales import block_scales
from .._arguments.cache import PagedCache
from .._arguments.dtypes import Dtype, dtypes_of
from .._arguments.head_scales import NO_SCALES, HeadScales, Scale, head_scales
from .._arguments.options import Heads
from .._plan.lengths import lengths
from .._variant.variant import Variant
from .host_plan import HostPlans
from .items import SPANS
from .prefill import PrefillWrapper

# What the lengths are called, for messages.
NAMES = ("qo_indptr", "paged_kv_indptr", "paged_kv_last_page_len", "seq_lens")


class PagedPrefill(HostPlans, PrefillWrapper):
    """BatchPrefillWithPagedKVCacheWrapper but for plan and run."""

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
        jit_args: list[Any] | None = None,
        jit_kwargs: dict[str, Any] | None = None,
        variant_owns_mask: bool = False,
        *,
        variant: Variant | None = None,
    ) -> None:
        self._set_up(
            float_workspace_buffer,
            kv_layout,
            paged=True,
            graph=use_cuda_graph,
            buffers={
                "qo_indptr_buf": qo_indptr_buf,
                "paged_kv_indptr_buf": paged_kv_indptr_buf,
                "paged_kv_indices_buf": paged_kv_indices_buf,
                "paged_kv_last_page_len_buf": paged_kv_last_page_len_buf,
            },
            mask_indptr_buf=mask_indptr_buf,
            custom_mask_buf=custom_mask_buf,
            backend=backend,
            variant=variant,
            jit_args=jit_args,
            jit_kwargs=jit_kwargs,
            variant_owns_mask=variant_owns_mask,
        )
        self._pages: torch.Tensor | None = None

    def _scales(
        self,
        q: torch.Tensor,
        scale_q: Scale | None,
        scale_k: Scale | None,
        scale_v: Scale | None,
        kv_cache_sf: PagedCache | None,
    ) -> HeadScales:
        """Read the scales of heads, or of the blocks of a cache of 4 bits: no call has both."""
        of_heads = head_scales(self._op, q, scale_q, scale_k, scale_v)
        of_blocks = block_scales(self._op, self._attention.options.kv, kv_cache_sf, self._hnd)
        return of_heads if of_blocks is NO_SCALES else of_blocks

    def workspace_size(
        self,
        qo_indptr: torch.Tensor,
        paged_kv_indptr: torch.Tensor,
        paged_kv_indices: torch.Tensor,
        paged_kv_last_page_len: torch.Tensor,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim_qk: int,
        page_size: int,
        head_dim_vo: int | None = None,
        custom_mask: torch.Tensor | None = None,
        packed_custom_mask: torch.Tensor | None = None,
        causal: bool = False,
        pos_encoding_mode: str = "NONE",
        use_fp16_qk_reduction: bool = False,
        sm_scale: float | None = None,
        window_left: int = -1,
        logits_soft_cap: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        q_data_type: Dtype = "float16",
        kv_data_type: Dtype | None = None,
        o_data_type: Dtype | None = None,
        prefix_len_ptr: torch.Tensor | None = None,
        token_pos_in_items_ptr: torch.Tensor | None = None,
        token_pos_in_items_len: int = 0,
        max_item_len_ptr: torch.Tensor | None = None,
        seq_lens: torch.Tensor | None = None,
        seq_lens_q: torch.Tensor | None = None,
        block_tables: torch.Tensor | None = None,
        max_token_per_sequence: int | None = None,
        max_sequence_kv: int | None = None,
        fixed_split_size: int | None = None,
        disable_split_kv: bool = False,
        uniform_q_len: int | None = None,
    ) -> tuple[int, int]:
        """Count the bytes that plan() of the same needs: of floats, and of the list of work."""
        chosen = self._options(
            Heads(num_qo_heads, num_kv_heads, head_dim_qk),
            head_dim_vo,
            dtypes_of(self._op, q_data_type, kv_data_type, o_data_type),
            causal=causal,
            window_left=window_left,
            soft_cap=logits_soft_cap,
            sm_scale=sm_scale,
            rope_scale=rope_scale,
            rope_theta=rope_theta,
            positions=pos_encoding_mode,
            fixed_split=(fixed_split_size or 0) * page_size,
            split=not disable_split_kv,
        )
        batch = lengths(
            self._op,
            paged_kv_indptr,
            qo_indptr,
            last_page_len=paged_kv_last_page_len,
            kv_lens=seq_lens,
            page_size=page_size,
            names=NAMES,
        ).uniform(uniform_q_len)
        masked = custom_mask is not None or packed_custom_mask is not None
        return self._attention.workspace_bytes(
            self._work(batch, chosen, masked, SPANS if prefix_len_ptr is not None else "")
        )
