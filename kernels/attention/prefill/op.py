"""Attention of many queries at once: of one request, and of batches of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partialmethod
from typing import TYPE_CHECKING, Any

import torch

from fictl.op import KernelModule, op

from ...quantization.packbits.op import packbits, segment_packbits
from .._arguments import (
    Dtype,
    Number,
    check_backend,
    dtypes_of,
    is_hnd,
    options,
    refuse_given,
    scale,
)
from .._cache import PagedCache, keys_and_values
from .._forward import PagedForward, RaggedForward
from .._lengths import Indices, lengths
from .._masks import mask_of_one
from .._paged_workspace_size import NAMES, PagedWorkspaceSize
from .._prefill_wrapper import PrefillWrapper
from .._single import attend_one, shape_of_keys
from .._slots import rows_of_tiles
from .jit import module

if TYPE_CHECKING:
    from .._define_variant import Variant

kernel = KernelModule(module)

_FP4 = "caches of 4 bits are not here"
_FP8 = "queries of fp8 are not here; pass k_scale and v_scale of keys and values"
_EXACT = "the softmax here is exact, and in fp32"
_INDPTR = "values and outputs lie as keys and queries do"


@op(
    archs=">=8.0",
    dtypes="f16 bf16 e4m3 e5m2",
    devices="cuda emu",
    mutates="out lse",
    uses="packbits segment_packbits",
    settings={
        "FICTL_ATTENTION_VERBOSE": "say of every plan which kernel was chosen, and why",
        "FICTL_VALIDATE_INPUTS": "look at page tables before kernels do, and wait for the GPU",
    },
)
def single_prefill_with_kv_cache(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale_q: torch.Tensor | None = None,
    scale_k: torch.Tensor | None = None,
    scale_v: torch.Tensor | None = None,
    o_dtype: torch.dtype | None = None,
    custom_mask: torch.Tensor | None = None,
    packed_custom_mask: torch.Tensor | None = None,
    causal: bool = False,
    kv_layout: str = "NHD",
    pos_encoding_mode: str = "NONE",
    use_fp16_qk_reduction: bool = False,
    sm_scale: float | None = None,
    window_left: int = -1,
    logits_soft_cap: float | None = None,
    rope_scale: float | None = None,
    rope_theta: float | None = None,
    backend: str = "auto",
    return_lse: bool = False,
    kv_cache_sf: tuple[torch.Tensor, torch.Tensor] | None = None,
    k_scale: Number | None = None,
    v_scale: Number | None = None,
    *,
    out: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    variant: Variant | None = None,
    scalars: Mapping[str, float] | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attention of one request's queries, which are the last of its keys; of no keys it is 0.

    q: (qo_len, num_qo_heads, head_dim), fp16 or bf16; head_dim is 64, 128 or 256. Of this, k, v and
        out, the elements of a head are neighbours; tokens and heads are at any pitch.
    k, v: (kv_len, num_kv_heads, head_dim), or the first two the other way round where kv_layout is
        "HND"; of q's dtype, or fp8. num_qo_heads is a multiple of num_kv_heads.
    scale_q, scale_k, scale_v: of fp8 queries, which are not taken.
    o_dtype: fp16 or bf16. None is q's.
    custom_mask: (qo_len, kv_len), bool: which keys each query sees, whatever causal says.
    packed_custom_mask: its bits, as packbits(custom_mask.view(-1), "little") packs them.
    causal: a query sees no keys after its own.
    pos_encoding_mode: "NONE"; "ROPE_LLAMA", by which queries and keys are rotated; or "ALIBI".
    use_fp16_qk_reduction: looked at no more; scores are added up in fp32.
    sm_scale: of scores before the softmax. None is head_dim^-0.5.
    window_left: how many keys before its own a query sees. -1 is all.
    logits_soft_cap: scores s become cap * tanh(s / cap). None or 0 leaves them.
    rope_scale, rope_theta: 1 and 10000 where they are not given.
    backend: "auto" and "fa2" are the same.
    return_lse: return (out, lse).
    k_scale, v_scale: further factors of scores and of out: numbers, or tensors of one, which are
        waited for.
    out: like q. None allocates it.
    lse: (qo_len, num_qo_heads), fp32: log2 of the sum of the exponentials; -inf where a query sees
        no key. None allocates it if asked for.
    sinks: (num_qo_heads,): the logit of a key without a value.
    variant: what define_variant() made, and `scalars` its values by name.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    name = "single_prefill_with_kv_cache"
    check_backend(name, backend)
    refuse_given(name, _FP4, kv_cache_sf=kv_cache_sf)
    refuse_given(name, _FP8, scale_q=scale_q, scale_k=scale_k, scale_v=scale_v)
    hnd = is_hnd(name, kv_layout)
    kv_len, kv_heads = shape_of_keys(name, q, k, hnd)
    chosen = options(
        name,
        q.shape[1],
        kv_heads,
        q.shape[2],
        q.dtype,
        k.dtype,
        o_dtype or q.dtype,
        causal=causal,
        window_left=window_left,
        soft_cap=logits_soft_cap,
        sm_scale=sm_scale,
        rope_scale=rope_scale,
        rope_theta=rope_theta,
        positions=pos_encoding_mode,
    )
    mask = mask_of_one(name, q.shape[0], kv_len, custom_mask, packed_custom_mask, packbits)
    rows = rows_of_tiles(q.shape[0], 1, chosen.group, chosen.head_dim)
    out, written = attend_one(
        name,
        kernel,
        f"{q.shape[0]} queries of {chosen.group} heads each",
        rows,
        chosen,
        q,
        k,
        v,
        hnd,
        mask,
        scale(name, k_scale=k_scale),
        scale(name, v_scale=v_scale),
        out,
        lse,
        return_lse,
        sinks,
        variant,
        scalars,
        enable_pdl,
    )
    return out if written is None else (out, written)


@op(
    archs=">=8.0",
    dtypes="f16 bf16 e4m3 e5m2",
    devices="cuda emu",
    mutates="out lse",
    uses="packbits segment_packbits",
)
def single_prefill_with_kv_cache_return_lse(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale_q: torch.Tensor | None = None,
    scale_k: torch.Tensor | None = None,
    scale_v: torch.Tensor | None = None,
    o_dtype: torch.dtype | None = None,
    custom_mask: torch.Tensor | None = None,
    packed_custom_mask: torch.Tensor | None = None,
    causal: bool = False,
    kv_layout: str = "NHD",
    pos_encoding_mode: str = "NONE",
    use_fp16_qk_reduction: bool = False,
    sm_scale: float | None = None,
    window_left: int = -1,
    logits_soft_cap: float | None = None,
    rope_scale: float | None = None,
    rope_theta: float | None = None,
    backend: str = "auto",
    *,
    return_lse: bool = True,
    kv_cache_sf: tuple[torch.Tensor, torch.Tensor] | None = None,
    k_scale: Number | None = None,
    v_scale: Number | None = None,
    out: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    variant: Variant | None = None,
    scalars: Mapping[str, float] | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """single_prefill_with_kv_cache, returning (out, lse)."""
    return single_prefill_with_kv_cache(
        q,
        k,
        v,
        scale_q,
        scale_k,
        scale_v,
        o_dtype,
        custom_mask,
        packed_custom_mask,
        causal,
        kv_layout,
        pos_encoding_mode,
        use_fp16_qk_reduction,
        sm_scale,
        window_left,
        logits_soft_cap,
        rope_scale,
        rope_theta,
        backend,
        return_lse,
        kv_cache_sf,
        k_scale,
        v_scale,
        out=out,
        lse=lse,
        sinks=sinks,
        variant=variant,
        scalars=scalars,
        enable_pdl=enable_pdl,
    )


class BatchPrefillWithRaggedKVCacheWrapper(RaggedForward, PrefillWrapper):
    """Attention of a batch's queries to keys that lie behind one another, as the queries do.

    float_workspace_buffer: memory on the GPU for partial results; 128 MiB are enough, but for
        plans with a small fixed_split_size.
    kv_layout: of keys and values: "NHD" is (tokens, heads, dim), "HND" is (heads, tokens, dim).
    use_cuda_graph: plans go to one place, for batches of as many requests and of as many queries or
        fewer as the first, so that a captured run() follows the next plan() of this wrapper, which
        is to be kept.
    qo_indptr_buf, kv_indptr_buf: on the GPU, (requests + 1,): plan() copies its own there where
        use_cuda_graph is set.
    custom_mask_buf: uint8 on the GPU: likewise, where there are masks. mask_indptr_buf: not needed.
    backend: "auto" and "fa2" are the same.
    jit_args, jit_kwargs, variant_owns_mask: FlashInfer's own, which are refused.
    variant: what define_variant() made.
    """

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
        super().__init__(
            kernel,
            segment_packbits,
            float_workspace_buffer,
            kv_layout,
            use_cuda_graph,
            {"qo_indptr_buf": qo_indptr_buf, "kv_indptr_buf": kv_indptr_buf},
            custom_mask_buf,
            backend,
            variant,
            paged=False,
            jit_args=jit_args,
            jit_kwargs=jit_kwargs,
            variant_owns_mask=variant_owns_mask,
        )

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
        head_dim_vo: head_dim_qk, if it is given.
        custom_mask: bool, the (queries, keys) of each request behind one another.
        packed_custom_mask: its bits, those of each request from a byte of its own on, as
            segment_packbits(..., bitorder="little") packs them.
        q_data_type, kv_data_type, o_data_type: of queries, keys and values, and outputs; None is as
            the queries.
        non_blocking: go on while what is on the host is copied.
        fixed_split_size: split keys into parts of as many, whatever else is in the batch, so that
            results do not depend on it.
        disable_split_kv: split none.
        uniform_q_len: each request has as many queries: plans for CUDA graphs then have no more
            room than that takes. Where it is not so, it is not looked at.
        seq_lens, seq_lens_q, max_token_per_sequence, max_sequence_kv: looked at no more. The other
            arguments are single_prefill_with_kv_cache's.
        """
        self._refuse(_INDPTR, v_indptr=v_indptr, o_indptr=o_indptr)
        self._refuse_items(
            prefix_len_ptr, token_pos_in_items_ptr, token_pos_in_items_len, max_item_len_ptr
        )
        chosen = self._options(
            num_qo_heads,
            num_kv_heads,
            head_dim_qk,
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
        self._plan(batch, chosen, custom_mask, packed_custom_mask, None, non_blocking)
        self._buffers.copy_all(non_blocking, qo_indptr=qo_indptr, kv_indptr=kv_indptr)

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
        k: torch.Tensor,
        v: torch.Tensor,
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

        q: (queries, num_qo_heads, head_dim), as plan() was told.
        k, v: (keys, num_kv_heads, head_dim), or (num_kv_heads, keys, head_dim) where the layout is
            "HND"; at least as many as kv_indptr says.
        q_scale, k_scale, v_scale: further factors, of scores and of out: numbers, or tensors of
            one, which are waited for. o_scale is FlashInfer's own, and refused.
        lse_base: "log2" or "ln".
        lse_layout: "NH" is (queries, num_qo_heads), "HN" the other way round.
        sinks: (num_qo_heads,): the logit of a key without a value.
        scalars: of the variant, by name. The others are single_prefill_with_kv_cache's.
        """
        self._refuse(_FP4, kv_cache_sf=kv_cache_sf)
        self._refuse("outputs are not of fp8", o_scale=o_scale)
        return self._run(
            q,
            k,
            v,
            None,
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


class BatchPrefillWithPagedKVCacheWrapper(PagedForward, PagedWorkspaceSize, PrefillWrapper):
    """Attention of a batch's queries to keys in pages of a cache.

    float_workspace_buffer, use_cuda_graph, custom_mask_buf, backend, variant and what is refused are
        BatchPrefillWithRaggedKVCacheWrapper's.
    kv_layout: of a page: "NHD" is (page_size, heads, dim), "HND" is (heads, page_size, dim).
    qo_indptr_buf, paged_kv_indptr_buf, paged_kv_indices_buf, paged_kv_last_page_len_buf: on the
        GPU, int32: plan() copies its own there where use_cuda_graph is set; indices of pages are
        read from there, for as many as there is room.
    """

    kernel = kernel

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
        buffers = {
            "qo_indptr_buf": qo_indptr_buf,
            "paged_kv_indptr_buf": paged_kv_indptr_buf,
            "paged_kv_indices_buf": paged_kv_indices_buf,
            "paged_kv_last_page_len_buf": paged_kv_last_page_len_buf,
        }
        super().__init__(
            kernel,
            segment_packbits,
            float_workspace_buffer,
            kv_layout,
            use_cuda_graph,
            buffers,
            custom_mask_buf,
            backend,
            variant,
            paged=True,
            jit_args=jit_args,
            jit_kwargs=jit_kwargs,
            variant_owns_mask=variant_owns_mask,
        )
        self._pages: torch.Tensor | None = None

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
            page_size; of a request without pages it is not looked at.
        seq_lens: (requests,): how many keys each request has, in place of paged_kv_last_page_len.
        fixed_split_size: split keys into parts of as many pages, whatever else is in the batch, so
            that results do not depend on it.
        seq_lens_q, block_tables, max_token_per_sequence, max_sequence_kv: looked at no more. The
            other arguments are BatchPrefillWithRaggedKVCacheWrapper's.
        """
        self._refuse_items(
            prefix_len_ptr, token_pos_in_items_ptr, token_pos_in_items_len, max_item_len_ptr
        )
        chosen = self._options(
            num_qo_heads,
            num_kv_heads,
            head_dim_qk,
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
            paged_kv_last_page_len,
            seq_lens,
            page_size=page_size,
            names=NAMES,
        ).uniform(uniform_q_len)
        indices = Indices("paged_kv_indices", paged_kv_indices)
        self._plan(batch, chosen, custom_mask, packed_custom_mask, indices, non_blocking)
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

        q: (queries, num_qo_heads, head_dim), as plan() was told.
        paged_kv_cache: keys and values, (pages, 2, page_size, num_kv_heads, head_dim), or a tuple of
            keys and of values, (pages, page_size, num_kv_heads, head_dim) each; page_size stands
            after num_kv_heads where the layout is "HND". Pages, slots and heads at any pitch.
        window_left: plan()'s, if it is given.
        skip_softmax_threshold_scale_factor, use_fp16_softmax, uses_spcompress: FlashInfer's own,
            which are refused. The others are BatchPrefillWithRaggedKVCacheWrapper.run's.
        """
        self._refuse(_FP4, kv_cache_sf=kv_cache_sf)
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
