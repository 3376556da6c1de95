"""Attention of one query, or a few, of each request: on CUDA cores, or on tensor cores by prefill."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partialmethod

import torch

from fictl.op import KernelModule, op

from .._arguments.cache import PagedCache
from .._arguments.dtypes import Dtype
from .._arguments.numbers import Number
from .._arguments.options import Heads
from .._arguments.refusals import refuse_given
from .._wrapper.decode import DecodeWrapper, PageTable, StatedDtypes
from .._wrapper.forward import DecodeForward
from ..prefill.op import BatchPrefillWithPagedKVCacheWrapper
from .jit import module

kernel = KernelModule(module)


class BatchDecodeWithPagedKVCacheWrapper(DecodeForward, DecodeWrapper):
    """Attention of the last queries of a batch's requests to keys in pages of a cache.

    float_workspace_buffer: memory on the GPU for partial results; 128 MiB are enough, but for
        plans with a small fixed_split_size.
    kv_layout: of a page: "NHD" is (page_size, heads, dim), "HND" is (heads, page_size, dim).
    use_cuda_graph: plans go to one place, for batches of as many requests, so that a captured run()
        follows the next plan() of this wrapper, which is to be kept.
    use_tensor_cores: False leaves it to the backend.
    paged_kv_indptr_buffer, paged_kv_indices_buffer, paged_kv_last_page_len_buffer: on the GPU,
        int32: plan() copies its own there where use_cuda_graph is set; indices of pages are read
        from there, for as many as there is room.
    backend: "auto" is on tensor cores, which are faster for any number of heads, and so is "fa3";
        "fa2" on CUDA cores, unless use_tensor_cores says otherwise or there are more than 3 heads
        to one of the keys, or several queries a request. Where more than 16 rows of queries share
        keys, kernels of prefill take them, as BatchPrefillWithPagedKVCacheWrapper's backend says;
        "fa3" is "auto" there.
    jit_args: FlashInfer's own, which is refused.
    variant: what define_variant() returned.
    """

    cuda_cores = kernel
    tensor_cores = BatchPrefillWithPagedKVCacheWrapper.kernel

    def plan(
        self,
        indptr: torch.Tensor,
        indices: torch.Tensor,
        last_page_len: torch.Tensor,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim: int,
        page_size: int,
        pos_encoding_mode: str = "NONE",
        window_left: int = -1,
        logits_soft_cap: float | None = None,
        q_data_type: Dtype | None = "float16",
        kv_data_type: Dtype | None = None,
        o_data_type: Dtype | None = None,
        data_type: Dtype | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        non_blocking: bool = True,
        block_tables: torch.Tensor | None = None,
        seq_lens: torch.Tensor | None = None,
        fixed_split_size: int | None = None,
        disable_split_kv: bool = False,
        q_len_per_req: int = 1,
        *,
        window_right: int = 0,
        is_causal: bool | None = None,
        head_dim_vo: int | None = None,
    ) -> None:
        """Share out a batch's work, for any number of run().

        indptr: (requests + 1,), int32: where the pages of each request begin among indices, and
            where the last ones end. On the CPU nothing is waited for; what is on the GPU comes in
            one copy.
        indices: int32: the pages of all requests.
        last_page_len: (requests,): how many slots of each last page are used, 1 to page_size; ignored
            for a request without pages.
        q_data_type, kv_data_type, o_data_type: dtypes of queries, keys and values, and outputs; None
            is the queries'. data_type is an older argument, for the first two.
        non_blocking: go on while what is on the host is copied.
        seq_lens: (requests,): how many keys each request has, in place of last_page_len.
        fixed_split_size: split keys into parts of as many pages, whatever else is in the batch, so
            that results do not depend on it.
        disable_split_kv: split none.
        q_len_per_req: queries of each request, the last of its keys; of several, each sees the keys
            up to its own.
        window_right, is_causal: only what q_len_per_req implies.
        head_dim_vo: the size of a head of values; None is head_dim.
        block_tables: ignored. The other arguments are single_decode_with_kv_cache's.
        """
        refuse_given(self._op, "no query sees keys after its own", window_right=window_right)
        self._plan(
            PageTable(indptr, indices, last_page_len, seq_lens, page_size),
            Heads(num_qo_heads, num_kv_heads, head_dim, head_dim_vo or 0),
            StatedDtypes(q_data_type, kv_data_type, o_data_type, data_type),
            q_len_per_req,
            is_causal=is_causal,
            non_blocking=non_blocking,
            window_left=window_left,
            soft_cap=logits_soft_cap,
            sm_scale=sm_scale,
            rope_scale=rope_scale,
            rope_theta=rope_theta,
            positions=pos_encoding_mode,
            fixed_split=(fixed_split_size or 0) * page_size,
            split=not disable_split_kv,
        )

    begin_forward = plan

    def workspace_size(
        self,
        indptr: torch.Tensor,
        indices: torch.Tensor,
        last_page_len: torch.Tensor,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim: int,
        page_size: int,
        pos_encoding_mode: str = "NONE",
        window_left: int = -1,
        logits_soft_cap: float | None = None,
        q_data_type: Dtype | None = "float16",
        kv_data_type: Dtype | None = None,
        o_data_type: Dtype | None = None,
        data_type: Dtype | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        block_tables: torch.Tensor | None = None,
        seq_lens: torch.Tensor | None = None,
        fixed_split_size: int | None = None,
        disable_split_kv: bool = False,
        q_len_per_req: int = 1,
        *,
        head_dim_vo: int | None = None,
    ) -> tuple[int, int]:
        """Count the bytes that plan() of the same needs: of floats, and of the list of work."""
        return self._workspace_bytes(
            PageTable(indptr, indices, last_page_len, seq_lens, page_size),
            Heads(num_qo_heads, num_kv_heads, head_dim, head_dim_vo or 0),
            StatedDtypes(q_data_type, kv_data_type, o_data_type, data_type),
            q_len_per_req,
            window_left=window_left,
            soft_cap=logits_soft_cap,
            sm_scale=sm_scale,
            rope_scale=rope_scale,
            rope_theta=rope_theta,
            positions=pos_encoding_mode,
            fixed_split=(fixed_split_size or 0) * page_size,
            split=not disable_split_kv,
        )

    @op(
        archs=">=8.0",
        dtypes="f16 bf16 e4m3 e5m2",
        devices="cuda emu",
        mutates="out lse",
        uses="BatchPrefillWithPagedKVCacheWrapper",
    )
    def run(
        self,
        q: torch.Tensor,
        paged_kv_cache: PagedCache,
        *,
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        out: torch.Tensor | None = None,
        lse: torch.Tensor | None = None,
        return_lse: bool = False,
        enable_pdl: bool | None = None,
        window_left: int | None = None,
        sinks: torch.Tensor | None = None,
        q_len_per_req: int | None = None,
        skip_softmax_threshold_scale_factor: float | None = None,
        kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None = None,
        scalars: Mapping[str, float] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Attention of the planned batch.

        q: (requests * q_len_per_req, num_qo_heads, head_dim), as plan() was told.
        paged_kv_cache: keys and values, (pages, 2, page_size, num_kv_heads, head_dim), or a tuple of
            keys and of values, (pages, page_size, num_kv_heads, head_dim) each; page_size stands
            after num_kv_heads where the layout is "HND". Last dimension contiguous, any stride for
            pages, slots and heads.
        out: like q. None allocates it.
        lse: (queries, num_qo_heads), fp32. None allocates it if asked for.
        window_left, q_len_per_req: plan()'s, if they are given.
        sinks: (num_qo_heads,): the logit of a key without a value.
        kv_cache_sf: of a cache of 4 bits, which is uint8 with head_dim / 2 in place of head_dim, the scales
            of each 16 values, e4m3, with head_dim / 16: as nvfp4_quantize_append_paged_kv_cache writes
            both. plan() was told kv_data_type=torch.uint8; heads are of 64, 128 or 256. A scale that is
            negative or NaN makes what it belongs to NaN. k_scale and v_scale are the global scales.
        skip_softmax_threshold_scale_factor: FlashInfer's own, which is refused.
        scalars: the values of the variant, by name. The others are single_decode_with_kv_cache's.
        """
        refuse_given(
            self._op,
            "the softmax here is exact",
            skip_softmax_threshold_scale_factor=skip_softmax_threshold_scale_factor,
        )
        self._check_planned(window_left, q_len_per_req)
        return self._run(
            q,
            paged_kv_cache,
            scales={"q_scale": q_scale, "k_scale": k_scale},
            v_scale=v_scale,
            out=out,
            lse=lse,
            return_lse=return_lse,
            sinks=sinks,
            scalars=scalars,
            enable_pdl=enable_pdl,
            kv_cache_sf=kv_cache_sf,
        )

    run_return_lse = partialmethod(run, return_lse=True)


class CUDAGraphBatchDecodeWithPagedKVCacheWrapper(BatchDecodeWithPagedKVCacheWrapper):
    """BatchDecodeWithPagedKVCacheWrapper with use_cuda_graph, and the tensors that it needs.

    workspace_buffer: memory on the GPU for partial results.
    indptr_buffer, indices_buffer, last_page_len_buffer: on the GPU, int32: (requests + 1,), as many
        as the requests may have pages, and (requests,).
    """

    def __init__(
        self,
        workspace_buffer: torch.Tensor,
        indptr_buffer: torch.Tensor,
        indices_buffer: torch.Tensor,
        last_page_len_buffer: torch.Tensor,
        kv_layout: str = "NHD",
        use_tensor_cores: bool = False,
    ) -> None:
        super().__init__(
            workspace_buffer,
            kv_layout,
            use_cuda_graph=True,
            use_tensor_cores=use_tensor_cores,
            paged_kv_indptr_buffer=indptr_buffer,
            paged_kv_indices_buffer=indices_buffer,
            paged_kv_last_page_len_buffer=last_page_len_buffer,
        )

    def plan(
        self,
        indptr: torch.Tensor,
        indices: torch.Tensor,
        last_page_len: torch.Tensor,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim: int,
        page_size: int,
        pos_encoding_mode: str = "NONE",
        window_left: int = -1,
        logits_soft_cap: float | None = None,
        q_data_type: Dtype | None = "float16",
        kv_data_type: Dtype | None = None,
        o_data_type: Dtype | None = None,
        data_type: Dtype | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        non_blocking: bool = True,
        block_tables: torch.Tensor | None = None,
        seq_lens: torch.Tensor | None = None,
        fixed_split_size: int | None = None,
        disable_split_kv: bool = False,
        q_len_per_req: int = 1,
        *,
        window_right: int = 0,
        is_causal: bool | None = None,
        head_dim_vo: int | None = None,
    ) -> None:
        """Plan like BatchDecodeWithPagedKVCacheWrapper.plan."""
        super().plan(
            indptr,
            indices,
            last_page_len,
            num_qo_heads,
            num_kv_heads,
            head_dim,
            page_size,
            pos_encoding_mode,
            window_left,
            logits_soft_cap,
            q_data_type,
            kv_data_type,
            o_data_type,
            data_type,
            sm_scale,
            rope_scale,
            rope_theta,
            non_blocking,
            block_tables,
            seq_lens,
            fixed_split_size,
            disable_split_kv,
            q_len_per_req,
            window_right=window_right,
            is_causal=is_causal,
            head_dim_vo=head_dim_vo,
        )

    begin_forward = plan

    @op(
        archs=">=8.0",
        dtypes="f16 bf16 e4m3 e5m2",
        devices="cuda emu",
        mutates="out lse",
        uses="BatchPrefillWithPagedKVCacheWrapper",
    )
    def run(
        self,
        q: torch.Tensor,
        paged_kv_cache: PagedCache,
        *,
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        out: torch.Tensor | None = None,
        lse: torch.Tensor | None = None,
        return_lse: bool = False,
        enable_pdl: bool | None = None,
        window_left: int | None = None,
        sinks: torch.Tensor | None = None,
        q_len_per_req: int | None = None,
        skip_softmax_threshold_scale_factor: float | None = None,
        kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None = None,
        scalars: Mapping[str, float] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Run like BatchDecodeWithPagedKVCacheWrapper.run."""
        return super().run(
            q,
            paged_kv_cache,
            q_scale=q_scale,
            k_scale=k_scale,
            v_scale=v_scale,
            out=out,
            lse=lse,
            return_lse=return_lse,
            enable_pdl=enable_pdl,
            window_left=window_left,
            sinks=sinks,
            q_len_per_req=q_len_per_req,
            kv_cache_sf=kv_cache_sf,
            scalars=scalars,
            skip_softmax_threshold_scale_factor=skip_softmax_threshold_scale_factor,
        )

    run_return_lse = partialmethod(run, return_lse=True)
