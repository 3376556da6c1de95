"""Causal attention in which some queries also see a range of keys, before and after their own."""

from __future__ import annotations

import torch

from fictl.op import op

from ...quantization.packbits.op import segment_packbits
from .._arguments.cache import PagedCache, keys_and_values
from .._arguments.dtypes import Dtype, dtypes_of
from .._arguments.head_scales import NO_SCALES
from .._arguments.numbers import Number
from .._arguments.options import Heads
from .._plan.lengths import Indices, lengths
from .._wrapper.paged_prefill import NAMES, PagedPrefill
from ..prefill.op import BatchPrefillWithPagedKVCacheWrapper
from .checks import check_ranges, refuse_masks, windows_of

_SEEN = "CausalOrRange"  # the C++ variant


class BatchPrefillWithCausalBidirectionalRangesWrapper(PagedPrefill):
    """Attention of a batch to keys in pages: causal, but for a range of keys that a query may have.

    float_workspace_buffer, kv_layout, use_cuda_graph and the buffers:
        BatchPrefillWithPagedKVCacheWrapper's.
    pos_encoding_mode: "NONE".
    q_data_type, kv_data_type, o_data_type: plan()'s, where it says nothing of them. head_dim_qk and
        head_dim_vo are plan()'s alone: nothing is compiled before.
    """

    kernel = BatchPrefillWithPagedKVCacheWrapper.kernel
    segment_packbits = staticmethod(segment_packbits)

    def __init__(
        self,
        float_workspace_buffer: torch.Tensor,
        kv_layout: str = "NHD",
        use_cuda_graph: bool = False,
        qo_indptr_buf: torch.Tensor | None = None,
        paged_kv_indptr_buf: torch.Tensor | None = None,
        paged_kv_indices_buf: torch.Tensor | None = None,
        paged_kv_last_page_len_buf: torch.Tensor | None = None,
        pos_encoding_mode: str = "NONE",
        q_data_type: Dtype = torch.bfloat16,
        kv_data_type: Dtype = torch.bfloat16,
        o_data_type: Dtype | None = None,
        head_dim_qk: int = 128,
        head_dim_vo: int = 128,
    ) -> None:
        super().__init__(
            float_workspace_buffer,
            kv_layout,
            use_cuda_graph,
            qo_indptr_buf,
            paged_kv_indptr_buf,
            paged_kv_indices_buf,
            paged_kv_last_page_len_buf,
        )
        self._positions = pos_encoding_mode
        self._dtypes = dtypes_of(self._op, q_data_type, kv_data_type, o_data_type)

    def plan(
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
        q_data_type: Dtype | None = None,
        kv_data_type: Dtype | None = None,
        o_data_type: Dtype | None = None,
        non_blocking: bool = True,
        prefix_len_ptr: torch.Tensor | None = None,
        token_pos_in_items_ptr: torch.Tensor | None = None,
        token_pos_in_items_len: int = 0,
        max_item_len_ptr: torch.Tensor | None = None,
        max_token_per_sequence: int | None = None,
        max_sequence_kv: int | None = None,
        fixed_split_size: int | None = None,
        disable_split_kv: bool = False,
    ) -> None:
        """Share out a batch's work, for any number of run().

        custom_mask, packed_custom_mask, causal, window_left and the arguments of several items: other
            masks, which are refused: run() says what is seen.
        q_data_type, kv_data_type, o_data_type: None is what the wrapper was made with.
        The other arguments are BatchPrefillWithPagedKVCacheWrapper.plan()'s. Every key is walked
        over, since any may be in a range.
        """
        refuse_masks(
            self._op,
            custom_mask=custom_mask,
            packed_custom_mask=packed_custom_mask,
            causal=causal,
            window_left=window_left + 1,
            prefix_len_ptr=prefix_len_ptr,
            token_pos_in_items_ptr=token_pos_in_items_ptr,
            token_pos_in_items_len=token_pos_in_items_len,
            max_item_len_ptr=max_item_len_ptr,
        )
        own = self._dtypes
        chosen = self._options(
            Heads(num_qo_heads, num_kv_heads, head_dim_qk),
            head_dim_vo,
            dtypes_of(self._op, q_data_type or own.q, kv_data_type or own.kv, o_data_type or own.o),
            causal=False,
            window_left=-1,
            soft_cap=logits_soft_cap,
            sm_scale=sm_scale,
            rope_scale=None,
            rope_theta=None,
            positions=self._positions if pos_encoding_mode == "NONE" else pos_encoding_mode,
            fixed_split=(fixed_split_size or 0) * page_size,
            split=not disable_split_kv,
        )
        if chosen.positions != "NONE":
            raise NotImplementedError(
                f"{self._op}: argument 'pos_encoding_mode' is {chosen.positions!r}; it is 'NONE'"
            )
        batch = lengths(
            self._op,
            paged_kv_indptr,
            qo_indptr,
            last_page_len=paged_kv_last_page_len,
            page_size=page_size,
            names=NAMES,
        )
        indices = Indices("paged_kv_indices", paged_kv_indices)
        work = self._work(batch, chosen, False, _SEEN)
        self._attention.plan(work, indices, non_blocking=non_blocking)
        self._buffers.copy_all(
            non_blocking,
            qo_indptr=qo_indptr,
            paged_kv_indptr=paged_kv_indptr,
            paged_kv_last_page_len=paged_kv_last_page_len,
        )
        self._pages = self._buffers.place(
            "paged_kv_indices_buf", "paged_kv_indices", paged_kv_indices, torch.int32, non_blocking
        )

    begin_forward = plan

    @op(
        archs=">=8.0",
        dtypes="f16 bf16 e4m3 e5m2",
        devices="cuda emu",
        mutates="out lse",
        uses="BatchPrefillWithPagedKVCacheWrapper segment_packbits",
    )
    def run(
        self,
        q: torch.Tensor,
        paged_kv_cache: PagedCache,
        bidirectional_ranges: torch.Tensor,
        causal_window_left: int = -1,
        range_window_left: int = -1,
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        out: torch.Tensor | None = None,
        lse: torch.Tensor | None = None,
        return_lse: bool = False,
        enable_pdl: bool | None = None,
        kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Attention of the planned batch: the result, or (that, lse), lse to base 2.

        A query at position p of its request sees the keys up to p, and those of its range.

        q, paged_kv_cache: as BatchPrefillWithPagedKVCacheWrapper.run() has them.
        bidirectional_ranges: (queries, 2), int32, contiguous, where q is: the first and the last key
            of each query's range, by their positions in its request; (-1, -1) for none. With CUDA
            graphs it is read from this place.
        causal_window_left: keys before p that are seen up to p; below 0 all.
        range_window_left: the range's keys that are seen from p back, p's own among them; 0 or less
            for all. Those after p are all seen.
        q_scale, k_scale, v_scale: further factors, of scores and of out.
        kv_cache_sf: FlashInfer's own, which is refused.
        """
        self._refuse("caches of 4 bits are not here", kv_cache_sf=kv_cache_sf)
        self._mask = check_ranges(self._op, bidirectional_ranges, q)
        k, v = keys_and_values(self._op, paged_kv_cache, self._hnd)
        return self._run(
            q,
            k,
            v,
            self._pages,
            head_scales=NO_SCALES,
            scales={"q_scale": q_scale, "k_scale": k_scale},
            v_scale=v_scale,
            out=out,
            lse=lse,
            return_lse=return_lse,
            lse_base="log2",
            lse_layout="NH",
            sinks=None,
            scalars=None,
            windows=windows_of(causal_window_left, range_window_left),
            enable_pdl=enable_pdl,
        )
