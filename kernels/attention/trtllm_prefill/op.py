"""Prefill by TensorRT-LLM's older names: keys behind one another, or by words for where they lie."""

from __future__ import annotations

from pathlib import Path

import torch

from fictl.op import KernelModule, op

from .._arguments.dtypes import Dtype, Dtypes
from .._arguments.lse import lse_for_kernel
from .._arguments.numbers import Number
from .._arguments.options import Heads
from .._arguments.renaming import Renaming
from .._config import EIGHTHS
from .._tables.arguments import one_tensor, refuse_others, result_dtype
from .._tables.cache import check_rows
from .._tables.prefill import Kernels, Starts, attend, plain_options
from .._tables.scales import fused
from ..prefill.op import BatchPrefillWithPagedKVCacheWrapper
from .layouts import Laid, laid_out

# The kernel of planned_prefill, which lists the work for those of prefill.
_LISTS = KernelModule(str(Path(__file__).parents[1] / "planned_prefill" / "op.py"))
_KERNELS = Kernels(_LISTS, BatchPrefillWithPagedKVCacheWrapper.kernel)
_RAGGED = Renaming(
    {
        "q": "query",
        "k": "key",
        "v": "value",
        "k_cache": "key",
        "v_cache": "value",
        "q_starts": "cum_seq_lens_q",
        "kv_starts": "cum_seq_lens_kv",
        "sinks": "attention_sinks",
    }
)
_V2 = Renaming(
    {
        "q": "qkv",
        "k": "qkv",
        "v": "qkv",
        "query": "qkv",
        "paged_kv_cache": "qkv",
        "pages": "block_tables",
        "kv_lens": "seq_lens",
        "q_starts": "cum_seq_lens_q",
        "kv_starts": "cum_seq_lens_kv",
    }
)
_BACKENDS = ("trtllm-gen", "cute-dsl")
_MASKS = ("causal", "sliding_window", "padding")


@op(
    archs=">=8.0",
    dtypes="f16 bf16 e4m3 e5m2",
    devices="cuda emu",
    mutates="out lse",
    uses="trtllm_batch_context_with_kv_cache BatchPrefillWithPagedKVCacheWrapper",
)
def trtllm_ragged_attention_deepseek(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    workspace_buffer: torch.Tensor,
    seq_lens: torch.Tensor,
    max_q_len: int,
    max_kv_len: int,
    bmm1_scale: Number,
    bmm2_scale: Number,
    o_sf_scale: float,
    batch_size: int,
    window_left: int,
    cum_seq_lens_q: torch.Tensor,
    cum_seq_lens_kv: torch.Tensor,
    enable_pdl: bool | None,
    is_causal: bool,
    return_lse: bool,
    attention_sinks: torch.Tensor | None = None,
    skip_softmax_threshold_scale_factor: float | None = None,
    out: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    sage_attn_sfs: tuple[torch.Tensor | None, ...] = (None, None, None, None),
    num_elts_per_sage_attn_blk: tuple[int, int, int, int] = (0, 0, 0, 0),
    backend: str = "trtllm-gen",
    q_seq_lens_cpu: torch.Tensor | None = None,
    kv_seq_lens_cpu: torch.Tensor | None = None,
    use_fp16_softmax: bool | None = None,
    uses_spcompress: bool | None = None,
    skip_all_rows_active_check: bool = True,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attention of each request's queries to keys and values that lie behind one another.

    Nothing is planned on the host and nothing is waited for: a captured call follows what the
    offsets hold when it is replayed.

    query: (tokens, num_heads, head_dim).
    key, value: (keys, num_kv_heads, head_dim) and (keys, num_kv_heads, head_dim_vo), as 192 and 128
        of DeepSeek's models. Of query's dtype, or of fp8. Any strides for tokens and heads.
    workspace_buffer: for the list of work and partial results; 128 MiB are enough. Calls that run at
        the same time have a workspace each.
    max_q_len: the most queries of a request.
    cum_seq_lens_q, cum_seq_lens_kv: (batch_size + 1,), int32: where the queries and the keys of each
        request begin. A request without keys has zeros as its result, and an lse of -inf.
    bmm1_scale, bmm2_scale: factors of scores and of values, numbers or tensors of one fp32.
    window_left: keys before its own that a query sees; -1: all.
    is_causal: whether a query, the last of which is the last key, sees none of the keys after its own.
    attention_sinks: (num_heads,), fp32: the logit of a key without a value.
    out: (tokens, num_heads, head_dim_vo), of 8 or 16 bits. None allocates it, of query's dtype, or of
        bf16 for queries of 8 bits.
    lse, return_lse: (tokens, num_heads), fp32: the base-2 logarithms of the sums of exponentials,
        of the sinks too. They are returned after out if that is asked for.
    skip_softmax_threshold_scale_factor, sage_attn_sfs, use_fp16_softmax, uses_spcompress: FlashInfer's
        own, which are refused.
    seq_lens, max_kv_len, o_sf_scale, num_elts_per_sage_attn_blk, q_seq_lens_cpu, kv_seq_lens_cpu,
        skip_all_rows_active_check: ignored.
    """
    name = "trtllm_ragged_attention_deepseek"
    if backend not in _BACKENDS:
        raise NotImplementedError(
            f"{name}: argument 'backend' is {backend!r}; there are "
            f"{', '.join(map(repr, _BACKENDS))}, all of them fictl's own kernels"
        )
    refuse_others(
        name,
        skip_softmax_threshold_scale_factor=skip_softmax_threshold_scale_factor or None,
        use_fp16_softmax=use_fp16_softmax,
        uses_spcompress=uses_spcompress,
        sage_attn_sfs=next((x for x in sage_attn_sfs if x is not None), None),
    )
    if query.ndim != 3 or key.ndim != 3 or value.ndim != 3:
        raise ValueError(
            f"{name}: argument 'query' has shape {tuple(query.shape)}, 'key' {tuple(key.shape)} and "
            f"'value' {tuple(value.shape)}; they are (tokens, heads, head_dim)"
        )
    laid = Laid(query, key, value, None, hnd=False)
    dtype = torch.bfloat16 if query.dtype in EIGHTHS else query.dtype
    with _RAGGED:
        written, sums = _attend(
            name,
            laid,
            ("key", "value"),
            Starts(batch_size, max_q_len, None, cum_seq_lens_q, kv_starts=cum_seq_lens_kv),
            workspace_buffer,
            (bmm1_scale, bmm2_scale),
            causal=is_causal,
            window_left=window_left,
            out=out,
            dtype=dtype,
            lse=lse,
            return_lse=return_lse,
            sinks=attention_sinks,
            enable_pdl=enable_pdl,
        )
    if return_lse:
        assert sums is not None
        return written, sums
    return written


@op(
    archs=">=8.0",
    dtypes="f16 bf16 e4m3 e5m2",
    devices="cuda emu",
    mutates="out",
    uses="trtllm_batch_context_with_kv_cache BatchPrefillWithPagedKVCacheWrapper",
)
def trtllm_fmha_v2_prefill(
    qkv: torch.Tensor | tuple[torch.Tensor, ...],
    input_layout: str,
    workspace_buffer: torch.Tensor,
    seq_lens: torch.Tensor,
    max_q_len: int,
    max_kv_len: int,
    bmm1_scale: float,
    bmm2_scale: float,
    batch_size: int,
    cum_seq_lens_q: torch.Tensor,
    cum_seq_lens_kv: torch.Tensor,
    block_tables: torch.Tensor | None = None,
    out: torch.Tensor | None = None,
    out_dtype: Dtype | None = None,
    sinks: torch.Tensor | list[torch.Tensor] | None = None,
    pos_encoding_mode: str | None = None,
    logits_soft_cap_scale: float | None = None,
    mask_mode: str = "causal",
    window_left: int = -1,
    chunked_attention_size: int = 0,
    save_softmax_stats: bool = False,
    skip_softmax_threshold_scale_factor: float = 0,
) -> torch.Tensor:
    """Attention of each request's queries to its keys, where a word says that they lie.

    Nothing is planned on the host and nothing is waited for.

    qkv, input_layout: "PACKED_QKV": (tokens, 3, heads, head_dim). "CONTIGUOUS_Q_KV": queries and
        (keys, 2, num_kv_heads, head_dim). "SEPARATE_Q_K_V": queries, keys and values.
        "Q_PAGED_KV_NHD": queries and (pages, 2, page_size, num_kv_heads, head_dim), or queries and a
        pair of keys and values; "Q_PAGED_KV_HND" has page_size after num_kv_heads. Queries are
        (tokens, num_heads, head_dim).
    block_tables: of pages: (batch_size, most_pages), int32; or with a pair (batch_size, 2,
        most_pages), whose pages of values count from the first of keys, too, as FlashInfer has it.
    seq_lens: (batch_size,), int32: keys of each request, where they are in pages.
    max_q_len, cum_seq_lens_q, workspace_buffer: trtllm_batch_context_with_kv_cache's.
    cum_seq_lens_kv: (batch_size + 1,), int32: where the keys of each request begin, where they are
        not in pages.
    bmm1_scale, bmm2_scale: factors of scores and of values, numbers or tensors of one fp32.
    out: (tokens, num_heads, head_dim_vo), of 8 or 16 bits. None allocates it, of out_dtype or else of
        the queries' dtype.
    sinks: (num_heads,), fp32: the logit of a key without a value.
    logits_soft_cap_scale: what logits stay below; None and 0: they are as they are.
    mask_mode: "causal" or "sliding_window": a query sees none of the keys after its own; "padding":
        it sees all. window_left tells how many keys before its own it sees, with each of them.
    pos_encoding_mode, chunked_attention_size, save_softmax_stats,
        skip_softmax_threshold_scale_factor: FlashInfer's own, which are refused.
    max_kv_len: ignored.
    """
    name = "trtllm_fmha_v2_prefill"
    refuse_others(
        name,
        skip_softmax_threshold_scale_factor=skip_softmax_threshold_scale_factor or None,
        pos_encoding_mode=pos_encoding_mode,
        save_softmax_stats=save_softmax_stats,
        chunked_attention_size=chunked_attention_size or None,
    )
    mask = (mask_mode or "causal").lower()
    if mask not in _MASKS:
        raise NotImplementedError(
            f"{name}: argument 'mask_mode' is {mask_mode!r}; there are "
            f"{', '.join(map(repr, _MASKS))}, and custom_mask of "
            "BatchPrefillWithPagedKVCacheWrapper for any other"
        )
    laid = laid_out(name, qkv, input_layout, block_tables)
    in_pages = laid.tables is not None
    starts = Starts(
        batch_size,
        max_q_len,
        seq_lens if in_pages else None,
        cum_seq_lens_q,
        kv_starts=None if in_pages else cum_seq_lens_kv,
    )
    with _V2:
        return _attend(
            name,
            laid,
            ("qkv", "qkv"),
            starts,
            workspace_buffer,
            (bmm1_scale, bmm2_scale),
            causal=mask != "padding",
            window_left=window_left,
            soft_cap=logits_soft_cap_scale,
            out=out,
            dtype=result_dtype(name, "out_dtype", out_dtype, out, laid.q.dtype),
            sinks=one_tensor(name, "sinks", sinks),
            enable_pdl=None,
        )[0]


def _attend(
    op: str,
    laid: Laid,
    names: tuple[str, str],
    starts: Starts,
    workspace: torch.Tensor,
    factors: tuple[Number, Number],
    *,
    causal: bool,
    window_left: int,
    soft_cap: float | None = None,
    out: torch.Tensor | None,
    dtype: torch.dtype,
    lse: torch.Tensor | None = None,
    return_lse: bool = False,
    sinks: torch.Tensor | None,
    enable_pdl: bool | None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Check what calls share, and compute (out, lse); the second where it is asked for, or given."""
    q, k, v = laid.q, laid.k, laid.v
    for name, x in zip(names, (k, v), strict=True):
        check_rows(op, name, x)
    if out is None:
        out = torch.empty((*q.shape[:-1], v.shape[-1]), dtype=dtype, device=q.device)
    if lse is not None or return_lse:
        lse = lse_for_kernel(op, lse, q)
    chosen = plain_options(
        op,
        Heads(q.shape[1], k.shape[1 if laid.hnd or k.ndim == 3 else 2], q.shape[2], v.shape[-1]),
        Dtypes(q.dtype, k.dtype, out.dtype),
        causal=causal,
        window_left=window_left,
        soft_cap=soft_cap,
    )
    attend(
        _KERNELS,
        op,
        chosen,
        starts,
        workspace,
        q,
        k,
        v,
        laid.tables,
        hnd=laid.hnd,
        scales=fused(op, *factors),
        out=out,
        lse=lse,
        sinks=sinks,
        enable_pdl=enable_pdl,
        shared_tables=laid.tables is None or laid.tables.ndim == 2,
    )
    return out, lse
