"""Attention of batches of many queries: keys concatenated, or in pages of a cache."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partialmethod

import torch

from fictl.op import KernelModule, op

from ...quantization.packbits.op import segment_packbits
from .._arguments.cache import PagedCache, keys_and_values
from .._arguments.dtypes import Dtype, dtypes_of
from .._arguments.head_scales import Scale, head_scales
from .._arguments.numbers import Number
from .._arguments.options import Heads
from .._plan.lengths import Indices, lengths
from .._wrapper.forward import PagedForward, RaggedForward
from .._wrapper.items import Items
from .._wrapper.paged_prefill import NAMES, PagedPrefill
from .._wrapper.ragged_prefill import RaggedPrefill
from .jit import module

kernel = KernelModule(module)

_FP4 = "caches of 4 bits are in pages: BatchPrefillWithPagedKVCacheWrapper"
_EXACT = "the softmax here is exact, and in fp32"
_INDPTR = "values and outputs lie as keys and queries do"


class BatchPrefillWithRaggedKVCacheWrapper(RaggedForward, RaggedPrefill):
    """Attention of a batch whose keys are concatenated, as its queries are.

    float_workspace_buffer: memory on the GPU for partial results; 128 MiB are enough, but for
        plans with a small fixed_split_size.
    kv_layout: of keys and values: "NHD" is (tokens, heads, dim), "HND" is (heads, tokens, dim).
    use_cuda_graph: plans go to one place, for batches of as many requests and of as many queries or
        fewer as the first, so that a captured run() follows the next plan() of this wrapper, which
        is to be kept.
    qo_indptr_buf, kv_indptr_buf: on the GPU, (requests + 1,): plan() copies its own there where
        use_cuda_graph is set.
    custom_mask_buf: uint8 on the GPU: likewise, where there are masks. mask_indptr_buf: ignored.
    backend: "fa2" has the kernels of mma.sync, for any GPU from sm_80 on, "fa3" those of Hopper,
        and "auto" chooses.
    jit_args, jit_kwargs, variant_owns_mask: FlashInfer's own, which are refused.
    variant: what define_variant() returned.
    """

    kernel = kernel
    segment_packbits = staticmethod(segment_packbits)

    def plan(
        self,
        qo_indptr: torch.Tensor,
        kv_indptr: torch.Tensor,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim_qk: int,
        head_dim_vo: int | None = None,
        custom_mask: torch.Tensor | None = None,
        packed_custom_mask: torch.Tensor | None = None,
        causal: bool = False,
        pos_encoding_mode: str = "NONE",
        use_fp16_qk_reduction: bool = False,
        window_left: int = -1,
        logits_soft_cap: float | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        q_data_type: Dtype = "float16",
        kv_data_type: Dtype | None = None,
        o_data_type: Dtype | None = None,
        non_blocking: bool = True,
        prefix_len_ptr: torch.Tensor | None = None,
        token_pos_in_items_ptr: torch.Tensor | None = None,
        token_pos_in_items_len: int = 0,
        max_item_len_ptr: torch.Tensor | None = None,
        fixed_split_size: int | None = None,
        disable_split_kv: bool = False,
        seq_lens: torch.Tensor | None = None,
        seq_lens_q: torch.Tensor | None = None,
        max_token_per_sequence: int | None = None,
        max_sequence_kv: int | None = None,
        v_indptr: torch.Tensor | None = None,
        o_indptr: torch.Tensor | None = None,
        uniform_q_len: int | None = None,
    ) -> None:
        """Share out a batch's work, for any number of run().

        qo_indptr, kv_indptr: (requests + 1,), int32: where the queries and the keys of each request
            begin, and where the last ones end. On the CPU nothing is waited for; on the GPU, one
            copy of both.
        head_dim_vo: the size of a head of values, and of out; None is head_dim_qk.
        custom_mask: bool, the (queries, keys) of each request flattened, one request after the other.
        packed_custom_mask: the same in bits, each request from a byte of its own on, as
            segment_packbits(..., bitorder="little") packs them.
        q_data_type, kv_data_type, o_data_type: dtypes of queries, keys and values, and outputs; None
            is the queries'. Queries are of fp16 or bf16, with keys of the same or of fp8; or all are
            of the same fp8, and o_data_type is fp16 or bf16.
        non_blocking: go on while what is on the host is copied.
        prefix_len_ptr: (requests,), integers: the tokens of a prefix, behind which there are several
            items, none of which sees another.
        token_pos_in_items_ptr: (requests * token_pos_in_items_len,), integers: of each token behind
            the prefix its place in its item, from 1 on; 0 for a token between items. Padded by 0.
        max_item_len_ptr: ignored.
        fixed_split_size: split keys into parts of as many, whatever else is in the batch, so that
            results do not depend on it.
        disable_split_kv: split none.
        uniform_q_len: how many queries every request has: plans for CUDA graphs then take no more
            room than that needs. Ignored where it is not so.
        seq_lens, seq_lens_q, max_token_per_sequence, max_sequence_kv: ignored. The other arguments
            are single_prefill_with_kv_cache's.
        """
        self._refuse(_INDPTR, v_indptr=v_indptr, o_indptr=o_indptr)
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
            fixed_split=fixed_split_size,
            split=not disable_split_kv,
        )
        batch = lengths(self._op, kv_indptr, qo_indptr).uniform(uniform_q_len)
        self._plan(
            batch,
            chosen,
            custom_mask=custom_mask,
            packed_custom_mask=packed_custom_mask,
            items=Items(
                prefix_len_ptr, token_pos_in_items_ptr, token_pos_in_items_len, max_item_len_ptr
            ),
            indices=None,
            non_blocking=non_blocking,
        )
        self._buffers.copy_all(non_blocking, qo_indptr=qo_indptr, kv_indptr=kv_indptr)

    begin_forward = plan

    @op(
        archs=">=8.0",
        dtypes="f16 bf16 e4m3 e5m2",
        devices="cuda emu",
        mutates="out lse",
        uses="segment_packbits",
        settings={
            "FICTL_ATTENTION_VERBOSE": "say of every plan which kernel was chosen, and why",
            "FICTL_VALIDATE_INPUTS": "look at page tables before kernels do, and wait for the GPU",
        },
    )
    def run(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        scale_q: Scale | None = None,
        scale_k: Scale | None = None,
        scale_v: Scale | None = None,
        *,
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        o_scale: Number | None = None,
        out: torch.Tensor | None = None,
        lse: torch.Tensor | None = None,
        return_lse: bool = False,
        lse_base: str = "log2",
        lse_layout: str = "NH",
        enable_pdl: bool | None = None,
        kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None = None,
        sinks: torch.Tensor | None = None,
        scalars: Mapping[str, float] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Attention of the planned batch.

        q: (queries, num_qo_heads, head_dim_qk), as plan() was told.
        k, v: (keys, num_kv_heads, head_dim_qk) and (…, head_dim_vo), or (num_kv_heads, keys, …) where
            the layout is "HND"; at least as many keys as kv_indptr says. q, k, v and out: last
            dimension contiguous, any stride for tokens and heads.
        scale_q, scale_k, scale_v: of q, k and v of fp8: (num_qo_heads,) and (num_kv_heads,) of
            fp32, or (1,) or a number for all heads. None is 1.
        out: (queries, num_qo_heads, head_dim_vo). None allocates it.
        q_scale, k_scale, v_scale: further factors, of scores and of out: numbers, or tensors of
            one element, which are waited for. o_scale is FlashInfer's own, and refused.
        lse_base: "log2" or "ln".
        lse_layout: "NH" is (queries, num_qo_heads), "HN" the other way round.
        sinks: (num_qo_heads,): the logit of a key without a value.
        scalars: the values of the variant, by name. The others are single_prefill_with_kv_cache's.
        """
        self._refuse(_FP4, kv_cache_sf=kv_cache_sf)
        self._refuse("outputs are not of fp8", o_scale=o_scale)
        return self._run(
            q,
            k,
            v,
            None,
            head_scales=head_scales(self._op, q, scale_q, scale_k, scale_v),
            scales={"q_scale": q_scale, "k_scale": k_scale},
            v_scale=v_scale,
            out=out,
            lse=lse,
            return_lse=return_lse,
            lse_base=lse_base,
            lse_layout=lse_layout,
            sinks=sinks,
            scalars=scalars,
            enable_pdl=enable_pdl,
        )

    run_return_lse = partialmethod(run, return_lse=True)


class BatchPrefillWithPagedKVCacheWrapper(PagedForward, PagedPrefill):
    """Attention of a batch's queries to keys in pages of a cache.

    float_workspace_buffer, use_cuda_graph, custom_mask_buf, backend, variant and what is refused are
        BatchPrefillWithRaggedKVCacheWrapper's.
    kv_layout: of a page: "NHD" is (page_size, heads, dim), "HND" is (heads, page_size, dim).
    qo_indptr_buf, paged_kv_indptr_buf, paged_kv_indices_buf, paged_kv_last_page_len_buf: on the
        GPU, int32: plan() copies its own there where use_cuda_graph is set; indices of pages are
        read from there, for as many as there is room.
    """

    kernel = kernel
    segment_packbits = staticmethod(segment_packbits)

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
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        q_data_type: Dtype = "float16",
        kv_data_type: Dtype | None = None,
        o_data_type: Dtype | None = None,
        non_blocking: bool = True,
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
    ) -> None:
        """Share out a batch's work, for any number of run().

        qo_indptr, paged_kv_indptr: (requests + 1,), int32: where the queries, and among
            paged_kv_indices the pages, of each request begin, and where the last ones end. On the
            CPU nothing is waited for; what is on the GPU comes in one copy.
        paged_kv_indices: int32: the pages of all requests.
        paged_kv_last_page_len: (requests,): how many slots of each last page are used, 1 to
            page_size; ignored for a request without pages.
        seq_lens: (requests,): how many keys each request has, in place of paged_kv_last_page_len.
        fixed_split_size: split keys into parts of as many pages, whatever else is in the batch, so
            that results do not depend on it.
        seq_lens_q, block_tables, max_token_per_sequence, max_sequence_kv: looked at no more. The
            other arguments are BatchPrefillWithRaggedKVCacheWrapper's.
        """
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
        self._plan(
            batch,
            chosen,
            custom_mask=custom_mask,
            packed_custom_mask=packed_custom_mask,
            items=Items(
                prefix_len_ptr, token_pos_in_items_ptr, token_pos_in_items_len, max_item_len_ptr
            ),
            indices=Indices("paged_kv_indices", paged_kv_indices),
            non_blocking=non_blocking,
        )
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
        uses="segment_packbits",
    )
    def run(
        self,
        q: torch.Tensor,
        paged_kv_cache: PagedCache,
        scale_q: Scale | None = None,
        scale_k: Scale | None = None,
        scale_v: Scale | None = None,
        *,
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        out: torch.Tensor | None = None,
        lse: torch.Tensor | None = None,
        return_lse: bool = False,
        lse_base: str = "log2",
        lse_layout: str = "NH",
        enable_pdl: bool | None = None,
        window_left: int | None = None,
        sinks: torch.Tensor | None = None,
        kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None = None,
        skip_softmax_threshold_scale_factor: float | None = None,
        use_fp16_softmax: bool | None = None,
        uses_spcompress: bool | None = None,
        scalars: Mapping[str, float] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Attention of the planned batch.

        q: (queries, num_qo_heads, head_dim_qk), as plan() was told.
        paged_kv_cache: keys and values, (pages, 2, page_size, num_kv_heads, head_dim_qk), or a tuple
            of keys and of values, (pages, page_size, num_kv_heads, head_dim_qk or head_dim_vo) each;
            "HND" has page_size after num_kv_heads. Last dimension contiguous, else any stride.
        window_left: plan()'s, if it is given.
        kv_cache_sf: BatchDecodeWithPagedKVCacheWrapper.run's, for a cache of 4 bits.
        skip_softmax_threshold_scale_factor, use_fp16_softmax, uses_spcompress: FlashInfer's own,
            which are refused. The others are BatchPrefillWithRaggedKVCacheWrapper.run's.
        """
        self._refuse(
            _EXACT,
            skip_softmax_threshold_scale_factor=skip_softmax_threshold_scale_factor,
            use_fp16_softmax=use_fp16_softmax,
            uses_spcompress=uses_spcompress,
        )
        self._attention.check_window(window_left)
        k, v = keys_and_values(self._op, paged_kv_cache, self._hnd)
        return self._run(
            q,
            k,
            v,
            self._pages,
            head_scales=self._scales(q, scale_q, scale_k, scale_v, kv_cache_sf),
            scales={"q_scale": q_scale, "k_scale": k_scale},
            v_scale=v_scale,
            out=out,
            lse=lse,
            return_lse=return_lse,
            lse_base=lse_base,
            lse_layout=lse_layout,
            sinks=sinks,
            scalars=scalars,
            enable_pdl=enable_pdl,
        )

    run_return_lse = partialmethod(run, return_lse=True)
