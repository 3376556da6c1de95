"""Decoding as one call: lengths and pages are read on the device, where the work is shared out."""

from __future__ import annotations

from typing import Any

import torch

from fictl.op import KernelModule, op

from .._arguments.cache import PagedCache, is_hnd
from .._arguments.dtypes import Dtype
from .._arguments.numbers import Number
from .._arguments.renaming import Renaming
from .._tables.arguments import one_tensor, refuse_others, tokens_of
from .._tables.decode import attend, workspace_of, zeroed_workspace
from .._tables.queries import Queries, check_backend, queries_of, query_count
from .._tables.scales import fused, of_xqa
from .jit import module

kernel = KernelModule(module)

# The kernel's words, and those of each function.
_BOTH = {"k_cache": "kv_cache", "v_cache": "kv_cache", "q": "query"}
_TRTLLM = Renaming(_BOTH)
_BATCH = Renaming({**_BOTH, "cum_seq_lens_q": "q_cu_seq_lens"})
_XQA = Renaming(
    {
        "query": "q",
        "out": "output",
        "block_tables": "page_table",
        "cum_seq_lens_q": "q_cu_seq_lens",
    }
)
_CUDNN = Renaming({"query": "q", "seq_lens": "actual_seq_lens_kv"})

_OTHER_OUT = "results of 4 bits are not here; out and out_dtype may be of 8 or 16 bits"
_BLACKWELL = "it is for kernels of FlashInfer that are not here"


@op(archs=">=8.0", dtypes="f16 bf16 e4m3 e5m2", devices="cuda emu", mutates="out lse")
def trtllm_batch_decode_with_kv_cache(
    query: torch.Tensor,
    kv_cache: PagedCache,
    workspace_buffer: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    max_seq_len: int,
    bmm1_scale: Number = 1.0,
    bmm2_scale: Number = 1.0,
    window_left: int = -1,
    out: torch.Tensor | None = None,
    out_dtype: Dtype | None = None,
    o_sf_scale: float | None = None,
    o_sf_vec_size: int | None = None,
    sinks: torch.Tensor | list[torch.Tensor] | None = None,
    kv_layout: str = "HND",
    enable_pdl: bool | None = None,
    backend: str = "auto",
    q_len_per_req: int | None = 1,
    o_scale: float | None = 1.0,
    mask: torch.Tensor | None = None,
    max_q_len: int | None = None,
    cum_seq_lens_q: torch.Tensor | None = None,
    skip_softmax_threshold_scale_factor: float | None = None,
    kv_cache_sf: tuple[torch.Tensor, torch.Tensor] | None = None,
    uses_shared_paged_kv_idx: bool = True,
    lse: torch.Tensor | None = None,
    return_lse: bool = False,
    bmm1_scale_log2: torch.Tensor | None = None,
    multi_ctas_kv_counter_buffer: torch.Tensor | None = None,
    enable_block_sparse_attention: bool = False,
    cp_world: int = 1,
    cp_rank: int = 0,
    causal_seqlens_kv_global: torch.Tensor | None = None,
    bf16q_fp8kv_transform_mode: str | None = None,
    request_order: torch.Tensor | None = None,
    request_order_plan: Any = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attention of the last queries of each request to its keys in pages, in one kernel.

    Nothing is planned on the host and nothing is waited for: a captured call follows what seq_lens
    and block_tables hold when it is replayed.

    query: (tokens, num_heads, head_dim): q_len_per_req of each request, the last of its keys.
    kv_cache: keys and values, (pages, 2, num_kv_heads, page_size, head_dim), or a tuple of both,
        (pages, num_kv_heads, page_size, head_dim) each; page_size stands before num_kv_heads where
        kv_layout is "NHD". A second dimension of 1 is of keys that are values, too. Of query's
        dtype, of fp8, or uint8 with head_dim / 2: two values of 4 bits (nvfp4) in a byte, for heads
        of 64, 128 and 256. Any stride for pages, slots and heads, and any page size.
    workspace_buffer: on the device; 128 MiB are enough. Zeros before its first use; calls leave the
        first 8 MiB as they were. Calls that run at the same time have a workspace each.
    block_tables: (requests, most_pages), int32: the pages of each request. Beyond those that
        seq_lens needs, there may be anything. (requests, 2, most_pages) where
        uses_shared_paged_kv_idx is False: pages of keys, then those of values.
    seq_lens: (requests,), int32 or uint32: keys of each request, those of its queries included. 0
        is a request without keys, whose result is 0.
    max_seq_len: of seq_lens, if it is known: it only helps to choose a kernel. block_tables says how
        many keys there may be.
    bmm1_scale, bmm2_scale: factors of scores and of values, numbers or tensors of one fp32.
        bmm1_scale_log2, such a tensor, takes the place of the first: it is that times log2(e).
    window_left: keys before its own that a query sees; -1: all.
    out: like query, of 8 or 16 bits. None allocates it, of out_dtype or else of query's dtype.
    sinks: (num_heads,), fp32: the logit of a key without a value.
    q_len_per_req: queries of each request.
    o_scale: a factor of results of 16 bits; those of 8 bits do not have it, as in FlashInfer.
    mask: (requests, q_len_per_req, words), uint16: bit j of a query's words says whether it sees
        the request's query j; words are 2 * ceil(q_len_per_req / 32). All earlier keys are seen.
        None: a query sees those up to its own.
    cum_seq_lens_q, max_q_len: (requests + 1,), int32: where the queries of each request begin, in
        place of q_len_per_req, and the most of one. mask is (tokens, words) then.
    lse, return_lse: (tokens, num_heads), fp32: the base-2 logarithms of the sums of exponentials,
        of the sinks too. They are returned after out if that is asked for.
    kv_cache_sf: of a cache of 4 bits, the scales of each 16 values, e4m3: laid out as kv_cache is,
        with head_dim / 16, as nvfp4_quantize_append_paged_kv_cache writes them. Factors of the whole
        cache are in bmm1_scale and bmm2_scale.
    backend, bf16q_fp8kv_transform_mode, multi_ctas_kv_counter_buffer: ignored.
    The others are FlashInfer's own, which are refused.
    """
    name = "trtllm_batch_decode_with_kv_cache"
    check_backend(name, backend)
    refuse_others(
        name,
        skip_softmax_threshold_scale_factor=skip_softmax_threshold_scale_factor,
    )
    if o_sf_scale is not None or o_sf_vec_size is not None or out_dtype == "nvfp4":
        raise NotImplementedError(f"{name}: {_OTHER_OUT}")
    if (
        enable_block_sparse_attention
        or causal_seqlens_kv_global is not None
        or cp_world != 1
        or cp_rank
        or request_order is not None
        or request_order_plan is not None
    ):
        raise NotImplementedError(
            f"{name}: enable_block_sparse_attention, cp_world, cp_rank, causal_seqlens_kv_global, "
            f"request_order or request_order_plan is given; {_BLACKWELL}"
        )
    written, sums = attend(
        kernel,
        name,
        _TRTLLM,
        query,
        kv_cache,
        is_hnd(name, kv_layout),
        workspace_of(name, workspace_buffer),
        block_tables,
        seq_lens,
        queries_of(name, q_len_per_req, max_q_len, cum_seq_lens_q),
        fused(name, bmm1_scale, bmm2_scale, bmm1_scale_log2),
        window_left=window_left,
        out=out,
        out_dtype=out_dtype,
        o_scale=o_scale,
        lse=lse,
        return_lse=return_lse,
        mask=mask,
        sinks=one_tensor(name, "sinks", sinks),
        enable_pdl=enable_pdl,
        kv_cache_sf=kv_cache_sf,
        shared_tables=uses_shared_paged_kv_idx,
        likely_keys=max_seq_len,
    )
    if return_lse:
        assert sums is not None
        return written, sums
    return written


@op(archs=">=8.0", dtypes="f16 bf16 e4m3 e5m2", devices="cuda emu", mutates="out")
def xqa_batch_decode_with_kv_cache(
    query: torch.Tensor,
    kv_cache: PagedCache,
    workspace_buffer: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    max_seq_len: int,
    bmm1_scale: Number = 1.0,
    bmm2_scale: Number = 1.0,
    window_left: int = -1,
    out: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    kv_layout: str = "NHD",
    enable_pdl: bool | None = None,
    q_len_per_req: int | None = 1,
    o_scale: float | None = 1.0,
    mask: torch.Tensor | None = None,
    kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None = None,
    q_cu_seq_lens: torch.Tensor | None = None,
) -> torch.Tensor:
    """Attention of the last queries of each request to its keys in pages, in one kernel.

    The arguments are trtllm_batch_decode_with_kv_cache's.

    out: None allocates (requests, q_len_per_req, num_heads, head_dim) for several queries of each
        request, as FlashInfer does, and else what is like query.
    q_cu_seq_lens: cum_seq_lens_q there; q_len_per_req is the most queries of a request then.
    """
    name = "xqa_batch_decode_with_kv_cache"
    most = query_count(name, "q_len_per_req", q_len_per_req)
    if out is None and most > 1 and q_cu_seq_lens is None and len(query) % most == 0:
        out = query.new_empty((len(query) // most, most, *query.shape[1:]))
    return attend(
        kernel,
        name,
        _BATCH,
        query,
        kv_cache,
        is_hnd(name, kv_layout),
        workspace_of(name, workspace_buffer),
        block_tables,
        seq_lens,
        Queries(most, q_cu_seq_lens),
        fused(name, bmm1_scale, bmm2_scale),
        window_left=window_left,
        out=out,
        o_scale=o_scale,
        mask=mask,
        sinks=one_tensor(name, "sinks", sinks),
        enable_pdl=enable_pdl,
        kv_cache_sf=kv_cache_sf,
        likely_keys=max_seq_len,
    )[0]


@op(archs=">=8.0", dtypes="f16 bf16 e4m3 e5m2", devices="cuda emu", mutates="output semaphores")
def xqa(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    page_table: torch.Tensor,
    seq_lens: torch.Tensor,
    output: torch.Tensor,
    workspace_buffer: torch.Tensor,
    semaphores: torch.Tensor,
    num_kv_heads: int,
    page_size: int,
    sinks: torch.Tensor | None = None,
    q_scale: Number = 1.0,
    kv_scale: Number = 1.0,
    sliding_win_size: int = 0,
    kv_layout: str = "NHD",
    sm_count: int | None = None,
    enable_pdl: bool | None = None,
    rcp_out_scale: float = 1.0,
    q_seq_len: int = 1,
    mask: torch.Tensor | None = None,
    *,
    q_cu_seq_lens: torch.Tensor | None = None,
    k_sf_cache: torch.Tensor | None = None,
    v_sf_cache: torch.Tensor | None = None,
) -> None:
    """Attention of the last queries of each request to its keys in pages, in one kernel.

    q: (requests, 1, num_heads, head_dim), or (requests, 1, q_seq_len, num_heads, head_dim), or with
        q_cu_seq_lens (tokens, num_heads, head_dim).
    k_cache, v_cache: (pages, page_size, num_kv_heads, head_dim), or (pages, num_kv_heads, page_size,
        head_dim) where kv_layout is "HND".
    page_table, seq_lens, mask, sinks, q_cu_seq_lens: block_tables, seq_lens, mask, sinks and
        cum_seq_lens_q of trtllm_batch_decode_with_kv_cache, whose q_len_per_req is q_seq_len.
    output: like q, of 8 or 16 bits.
    workspace_buffer: for partial results; 64 MiB are enough.
    semaphores: zeros, on the device: they are zeros again afterwards.
    q_scale, kv_scale: scores are multiplied by both and by 1 / sqrt(head_dim), and the result by
        kv_scale. Numbers, or tensors of one fp32.
    rcp_out_scale: a factor of results of 8 bits; those of 16 bits do not have it, as in FlashInfer.
    sliding_win_size: keys that a query sees, its own included; 0 for all.
    sm_count: of the GPU's SMs that are used; None for all.
    k_sf_cache, v_sf_cache: the scales of a cache of 4 bits, laid out as k_cache and v_cache are,
        with head_dim / 16.
    """
    name = "xqa"
    most = query_count(name, "q_seq_len", q_seq_len)
    tokens = tokens_of(name, "q", q)
    hnd, is_narrow = is_hnd(name, kv_layout), output.dtype.itemsize == 1
    shape = (num_kv_heads, page_size) if hnd else (page_size, num_kv_heads)
    if tuple(k_cache.shape[1:-1]) != shape:
        raise ValueError(
            f"{name}: argument 'k_cache' has shape {tuple(k_cache.shape)}; by num_kv_heads, "
            f"page_size and kv_layout it is (pages, {shape[0]}, {shape[1]}, head_dim)"
        )
    if (k_sf_cache is None) is not (v_sf_cache is None):
        missing = "k_sf_cache" if k_sf_cache is None else "v_sf_cache"
        raise ValueError(
            f"{name}: argument '{missing}' is None; pass scales of both caches, or none"
        )
    attend(
        kernel,
        name,
        _XQA,
        tokens,
        (k_cache, v_cache),
        hnd,
        zeroed_workspace(workspace_buffer, semaphores),
        page_table,
        seq_lens,
        Queries(most, q_cu_seq_lens),
        of_xqa(name, q_scale, kv_scale, rcp_out_scale if is_narrow else 1.0, q.shape[-1]),
        window_left=sliding_win_size - 1 if sliding_win_size > 0 else -1,
        out=tokens_of(name, "output", output),
        mask=mask,
        sinks=None if sinks is None else sinks.reshape(-1),
        enable_pdl=enable_pdl,
        most_sms=sm_count or 0,
        kv_cache_sf=None if k_sf_cache is None or v_sf_cache is None else (k_sf_cache, v_sf_cache),
    )


@op(archs=">=8.0", dtypes="f16 bf16 e4m3 e5m2", devices="cuda emu", mutates="out lse")
def cudnn_batch_decode_with_kv_cache(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    scale: float,
    workspace_buffer: torch.Tensor,
    *,
    max_sequence_kv: int,
    actual_seq_lens_kv: torch.Tensor | None = None,
    block_tables: torch.Tensor | None = None,
    is_cuda_graph_compatible: bool = False,
    batch_offsets_q: torch.Tensor | None = None,
    batch_offsets_o: torch.Tensor | None = None,
    batch_offsets_k: torch.Tensor | None = None,
    batch_offsets_v: torch.Tensor | None = None,
    out: torch.Tensor | None = None,
    return_lse: bool = False,
    lse: torch.Tensor | None = None,
    q_len_per_req: int = 1,
    window_left: int = -1,
    sinks: torch.Tensor | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attention of the last queries of each request to its keys in pages, without cuDNN.

    q: (requests * q_len_per_req, num_heads, head_dim).
    k_cache, v_cache: (pages, num_kv_heads, page_size, head_dim), any strides but the last.
    scale: of the scores.
    workspace_buffer: on the device; 128 MiB are enough. Its first 128 KiB are set to zero.
    actual_seq_lens_kv: (requests,), int32, on the device: keys of each request.
    block_tables: (requests, most_pages), int32.
    batch_offsets_q, batch_offsets_o, batch_offsets_k, batch_offsets_v: refused: queries lie behind
        one another, and keys in pages.
    max_sequence_kv: of actual_seq_lens_kv, if it is known: it only helps to choose a kernel.
    is_cuda_graph_compatible: ignored.
    The others are trtllm_batch_decode_with_kv_cache's.
    """
    name = "cudnn_batch_decode_with_kv_cache"
    refuse_others(
        name,
        batch_offsets_q=batch_offsets_q,
        batch_offsets_o=batch_offsets_o,
        batch_offsets_k=batch_offsets_k,
        batch_offsets_v=batch_offsets_v,
    )
    if actual_seq_lens_kv is None or block_tables is None:
        missing = "actual_seq_lens_kv" if actual_seq_lens_kv is None else "block_tables"
        raise ValueError(f"{name}: argument '{missing}' is None; pass a tensor on the device")
    written, sums = attend(
        kernel,
        name,
        _CUDNN,
        q,
        (k_cache, v_cache),
        True,
        zeroed_workspace(workspace_buffer),
        block_tables,
        actual_seq_lens_kv,
        Queries(query_count(name, "q_len_per_req", q_len_per_req)),
        fused(name, scale, 1.0),
        window_left=window_left,
        out=out,
        lse=lse,
        return_lse=return_lse,
        sinks=sinks,
        enable_pdl=None,
        likely_keys=max_sequence_kv,
    )
    if return_lse:
        assert sums is not None
        return written, sums
    return written
