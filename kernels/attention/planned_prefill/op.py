"""Prefill as one call: lengths and pages are read on the device, where the work is listed."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .._arguments.cache import PagedCache, is_hnd
from .._arguments.dtypes import Dtype, Dtypes
from .._arguments.lse import check_lse, lse_for_kernel
from .._arguments.numbers import Number
from .._arguments.options import Heads
from .._arguments.renaming import Renaming
from .._config import EIGHTHS
from .._tables.arguments import one_tensor, refuse_others, result_dtype
from .._tables.cache import check_rows, check_wide, keys_and_values
from .._tables.cudnn import offsets_of, padded_lse, scales_of
from .._tables.prefill import Kernels, Starts, attend, plain_options
from .._tables.queries import check_backend
from .._tables.scales import fused
from ..prefill.op import BatchPrefillWithPagedKVCacheWrapper

kernel = KernelModule(__file__)
_KERNELS = Kernels(kernel, BatchPrefillWithPagedKVCacheWrapper.kernel)

_OTHER_OUT = "results of 4 bits are not here; out and out_dtype may be of 8 or 16 bits"
_TRTLLM = Renaming(
    {
        "q": "query",
        "paged_kv_cache": "kv_cache",
        "pages": "block_tables",
        "kv_lens": "seq_lens",
        "q_starts": "cum_seq_lens_q",
    }
)
_CUDNN = Renaming(
    {
        "query": "q",
        "paged_kv_cache": "k_cache",
        "k": "k_cache",
        "v": "v_cache",
        "pages": "block_tables",
        "kv_lens": "actual_seq_lens_kv",
        "q_lens": "actual_seq_lens_q",
        "q_starts": "batch_offsets_q",
        "kv_starts": "batch_offsets_k",
        "max_q_len": "max_token_per_sequence",
    }
)


@op(
    archs=">=8.0",
    dtypes="f16 bf16 e4m3 e5m2",
    devices="cuda emu",
    mutates="out lse",
    uses="BatchPrefillWithPagedKVCacheWrapper",
)
def trtllm_batch_context_with_kv_cache(
    query: torch.Tensor,
    kv_cache: PagedCache,
    workspace_buffer: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    max_q_len: int,
    max_kv_len: int,
    bmm1_scale: Number,
    bmm2_scale: Number,
    batch_size: int,
    cum_seq_lens_q: torch.Tensor,
    cum_seq_lens_kv: torch.Tensor,
    window_left: int = -1,
    out: torch.Tensor | None = None,
    out_dtype: Dtype | None = None,
    o_sf_scale: float | None = None,
    o_sf_vec_size: int | None = None,
    kv_layout: str = "HND",
    enable_pdl: bool | None = None,
    sinks: torch.Tensor | list[torch.Tensor] | None = None,
    kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None = None,
    skip_softmax_threshold_scale_factor: float | None = None,
    uses_shared_paged_kv_idx: bool = True,
    causal: bool = True,
    lse: torch.Tensor | None = None,
    return_lse: bool = False,
    multi_ctas_kv_counter_buffer: torch.Tensor | None = None,
    use_fp16_softmax: bool | None = None,
    uses_spcompress: bool | None = None,
    backend: str = "trtllm-gen",
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attention of many queries of each request, the last of its keys in pages.

    Nothing is planned on the host and nothing is waited for: a captured call follows what the
    lengths and block_tables hold when it is replayed.

    query: (tokens, num_heads, head_dim): the queries of all requests, one after another.
    kv_cache: keys and values, (pages, 2, num_kv_heads, page_size, head_dim), or a tuple of both,
        (pages, num_kv_heads, page_size, head_dim) each; page_size stands before num_kv_heads where
        kv_layout is "NHD". Of query's dtype, of fp8, or uint8 with head_dim / 2: two values of 4
        bits (nvfp4) in a byte, for heads of 64, 128 and 256.
    workspace_buffer: for the list of work and partial results; 128 MiB are enough. Calls that run at
        the same time have a workspace each.
    block_tables: (batch_size, most_pages), int32: the pages of each request. Beyond those that
        seq_lens needs, there may be anything. (batch_size, 2, most_pages) where
        uses_shared_paged_kv_idx is False: pages of keys, then those of values.
    seq_lens: (batch_size,), int32 or uint32: keys of each request, those of its queries included.
    max_q_len: the most queries of a request.
    cum_seq_lens_q: (batch_size + 1,), int32: where the queries of each request begin.
    bmm1_scale, bmm2_scale: factors of scores and of values, numbers or tensors of one fp32.
    window_left: keys before its own that a query sees; -1: all.
    out: like query, of 8 or 16 bits. None allocates it, of out_dtype or else of query's dtype.
    sinks: (num_heads,), fp32: the logit of a key without a value.
    causal: whether a query sees none of the keys after its own.
    lse, return_lse: (tokens, num_heads), fp32: the base-2 logarithms of the sums of exponentials,
        of the sinks too. They are returned after out if that is asked for.
    kv_cache_sf: of a cache of 4 bits, the scales of each 16 values, e4m3: laid out as kv_cache is,
        with head_dim / 16. bmm1_scale and bmm2_scale are numbers then.
    max_kv_len, cum_seq_lens_kv, multi_ctas_kv_counter_buffer, use_fp16_softmax, uses_spcompress,
        backend: ignored.
    The others are FlashInfer's own, which are refused.
    """
    name = "trtllm_batch_context_with_kv_cache"
    check_backend(name, backend)
    refuse_others(
        name,
        skip_softmax_threshold_scale_factor=skip_softmax_threshold_scale_factor,
    )
    if o_sf_scale is not None or o_sf_vec_size is not None or out_dtype == "nvfp4":
        raise NotImplementedError(f"{name}: {_OTHER_OUT}")
    hnd = is_hnd(name, kv_layout)
    k, v = keys_and_values(name, kv_cache, hnd)
    dtype = result_dtype(name, "out_dtype", out_dtype, out, query.dtype)
    if out is None:
        out = torch.empty(query.shape, dtype=dtype, device=query.device)
    if lse is not None or return_lse:
        lse = lse_for_kernel(name, lse, query)
    scales = fused(name, bmm1_scale, bmm2_scale)
    chosen = plain_options(
        name,
        Heads(query.shape[-2], k.shape[1 if hnd else 2], query.shape[-1]),
        Dtypes(query.dtype, k.dtype, out.dtype),
        causal=causal,
        window_left=window_left,
    )
    if block_tables is None or tuple(block_tables.shape[:1]) != (batch_size,):
        shape = None if block_tables is None else tuple(block_tables.shape)
        raise ValueError(
            f"{name}: argument 'block_tables' has shape {shape}; by batch_size it is "
            f"({batch_size}, most_pages)"
        )
    with _TRTLLM:
        attend(
            _KERNELS,
            name,
            chosen,
            Starts(batch_size, max_q_len, seq_lens, cum_seq_lens_q),
            workspace_buffer,
            query,
            k,
            v,
            block_tables,
            hnd=hnd,
            scales=scales,
            out=out,
            lse=lse,
            sinks=one_tensor(name, "sinks", sinks),
            enable_pdl=enable_pdl,
            kv_cache_sf=kv_cache_sf,
            shared_tables=uses_shared_paged_kv_idx,
        )
    if return_lse:
        assert lse is not None
        return out, lse
    return out


@op(
    archs=">=8.0",
    dtypes="f16 bf16 e4m3 e5m2",
    devices="cuda emu",
    mutates="out lse",
    uses="BatchPrefillWithPagedKVCacheWrapper",
)
def cudnn_batch_prefill_with_kv_cache(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    scale: float,
    workspace_buffer: torch.Tensor,
    *,
    max_token_per_sequence: int,
    max_sequence_kv: int,
    actual_seq_lens_q: torch.Tensor | None = None,
    actual_seq_lens_kv: torch.Tensor | None = None,
    block_tables: torch.Tensor | None = None,
    causal: bool,
    return_lse: bool,
    q_scale: torch.Tensor | None = None,
    k_scale: torch.Tensor | None = None,
    v_scale: torch.Tensor | None = None,
    batch_offsets_q: torch.Tensor | None = None,
    batch_offsets_o: torch.Tensor | None = None,
    batch_offsets_k: torch.Tensor | None = None,
    batch_offsets_v: torch.Tensor | None = None,
    batch_offsets_stats: torch.Tensor | None = None,
    batch_offsets_units: str = "elements",
    out: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    is_cuda_graph_compatible: bool = False,
    backend: str | None = None,
    o_data_type: Dtype | None = None,
    lse_base: str = "log2",
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Attention of many queries of each request, without cuDNN: (out, lse), or (out, None).

    Nothing is planned on the host and nothing is waited for.

    q: (tokens, num_heads, head_dim): the queries of all requests, one after another.
    k_cache, v_cache: (pages, num_kv_heads, page_size, head_dim) with block_tables, or else (tokens,
        num_kv_heads, head_dim). Heads of values may be smaller than those of keys.
    scale: of the scores.
    workspace_buffer: for the list of work and partial results; 128 MiB are enough.
    max_token_per_sequence: the most queries of a request.
    actual_seq_lens_q, actual_seq_lens_kv: (requests,), int32, on the device: queries and keys of
        each request. None where offsets in tokens say it.
    block_tables: (requests, most_pages), int32: the pages of each request.
    causal: whether a query, the last of which is the last key, sees none of the keys after its own.
    q_scale, k_scale, v_scale: tensors of one fp32, for queries of fp8.
    batch_offsets_q, batch_offsets_k: (requests + 1,), int32: where the queries and the keys of each
        request begin; for one request, None is the first. batch_offsets_units tells whether they
        count "tokens" or "elements".
    batch_offsets_o, batch_offsets_v: those of q and of k: out has a row for each of q's, and v for
        each of k's. With FICTL_VALIDATE_INPUTS=1 that is checked.
    lse: (requests, max_token_per_sequence, num_heads), fp32, which is -inf beyond a request's
        queries; with batch_offsets_stats (tokens, num_heads) is accepted, too. lse_base is "log2" or
        "ln".
    max_sequence_kv, is_cuda_graph_compatible, backend: ignored.
    """
    name = "cudnn_batch_prefill_with_kv_cache"
    check_lse(name, lse_base, "NH")
    hnd = block_tables is not None
    check_wide(name, k_cache)
    if q.ndim != 3 or k_cache.ndim != (4 if hnd else 3) or v_cache.ndim != k_cache.ndim:
        raise ValueError(
            f"{name}: argument 'q' has shape {tuple(q.shape)}, 'k_cache' {tuple(k_cache.shape)} and "
            f"'v_cache' {tuple(v_cache.shape)}; q is (tokens, heads, head_dim), and the caches are "
            f"{'(pages, heads, page_size, head_dim)' if hnd else '(tokens, heads, head_dim)'}"
        )
    check_rows(name, "k_cache", k_cache)
    check_rows(name, "v_cache", v_cache)
    dtype = result_dtype(name, "o_data_type", o_data_type, out, q.dtype)
    if out is None:
        out = torch.empty((*q.shape[:-1], v_cache.shape[-1]), dtype=dtype, device=q.device)
    starts = offsets_of(
        name,
        q,
        k_cache,
        v_cache,
        max_token_per_sequence,
        (actual_seq_lens_q, actual_seq_lens_kv),
        (batch_offsets_q, batch_offsets_o, batch_offsets_k, batch_offsets_v),
        batch_offsets_units,
        in_pages=hnd,
    )
    chosen = plain_options(
        name,
        Heads(q.shape[1], k_cache.shape[1], q.shape[2], v_cache.shape[-1]),
        Dtypes(q.dtype, k_cache.dtype, out.dtype),
        causal=causal,
    )
    packed = None
    if return_lse or lse is not None:
        is_packed = lse is not None and tuple(lse.shape) == tuple(q.shape[:2])
        packed = lse if is_packed else torch.empty(q.shape[:2], device=q.device)
    with _CUDNN:
        attend(
            _KERNELS,
            name,
            chosen,
            starts,
            workspace_buffer,
            q,
            k_cache,
            v_cache,
            block_tables,
            hnd=hnd,
            scales=scales_of(name, scale, (q_scale, k_scale, v_scale), q.dtype in EIGHTHS),
            out=out,
            lse=packed,
            sinks=None,
            enable_pdl=None,
        )
    if packed is None:
        return out, None
    if packed is not lse:
        lse = padded_lse(name, packed, lse, starts)
    return out, lse.mul_(0.6931471805599453) if lse_base == "ln" else lse
