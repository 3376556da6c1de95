"""Attention in fp64: of one request, then the flat calls of whole batches."""

from __future__ import annotations

import math
from itertools import pairwise

import torch

# Scores that are in memory at once.
_MOST_SCORES = 1 << 26


def _turned(x: torch.Tensor, positions: torch.Tensor, scale: float, theta: float) -> torch.Tensor:
    """Rotate by positions: the first half of a head is the real parts, the second the others."""
    half = x.shape[-1] // 2
    steps = torch.arange(half, device=x.device, dtype=torch.float64) / half
    angles = positions[:, None].double() / scale * theta**-steps
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    real, other = x[..., :half], x[..., half:]
    return torch.cat([real * cos - other * sin, other * cos + real * sin], -1)


def _slopes(heads: int, device: torch.device) -> torch.Tensor:
    """Compute ALiBi's slopes: powers of one number; heads beyond a power of two get those between."""
    whole = 2 ** int(math.log2(heads))
    first = 2.0 ** (-8 / whole * torch.arange(1, whole + 1, device=device).double())
    rest = torch.arange(1, 2 * (heads - whole) + 1, 2, device=device).double()
    return torch.cat([first, 2.0 ** (-4 / whole * rest)])


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool = False,
    window_left: int = -1,
    logits_soft_cap: float | None = None,
    *,
    sm_scale: float | None = None,
    mask: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    alibi: bool = False,
    rope: tuple[float, float] | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attend one request: (out, lse). q: (n, heads, dim); k, v: (m, kv_heads, dim); mask: (n, m).

    v may have another dim, which is that of out. The queries are the last of the keys. rope: (scale, theta). lse is of base 2. A row without
    keys is 0, its lse -inf.
    """
    q, k, v = q.double(), k.double(), v.double()
    (n, heads, dim), (m, kv_heads, _) = q.shape, k.shape
    keys = torch.arange(m, device=q.device)
    places = torch.arange(n, device=q.device) + m - n
    if rope is not None:
        q, k = _turned(q, places, *rope), _turned(k, keys, *rope)
    q = q.view(n, kv_heads, heads // max(kv_heads, 1), dim)
    out, lse = q.new_zeros((*q.shape[:-1], v.shape[-1])), q.new_zeros(q.shape[:-1])
    step = max(1, _MOST_SCORES // max(heads * m, 1))
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        place = places[rows, None]
        scores = torch.einsum("nhgd,mhd->nhgm", q[rows], k) * (sm_scale or dim**-0.5)
        if alibi:
            slopes = _slopes(heads, q.device).view(kv_heads, -1, 1)
            scores += slopes * (keys - place)[:, None, None]
        if logits_soft_cap:
            scores = logits_soft_cap * torch.tanh(scores / logits_soft_cap)
        seen = torch.ones_like(keys - place, dtype=torch.bool)
        if causal:
            seen &= keys <= place
        if window_left >= 0:
            seen &= keys >= place - window_left
        if mask is not None:
            seen &= mask[rows].bool()
        scores.masked_fill_(~seen[:, None, None], -torch.inf)
        total = torch.logsumexp(scores, -1) if m else scores.sum(-1) - torch.inf
        if sinks is not None:
            total = torch.logaddexp(total, sinks.double().view(kv_heads, -1).expand_as(total))
        weights = torch.exp(scores - total[..., None].nan_to_num(neginf=0.0))
        out[rows] = torch.einsum("nhgm,mhd->nhgd", weights, v)
        lse[rows] = total * math.log2(math.e)
    return out.flatten(1, 2), lse.flatten(1, 2)


def _gathered(
    cache: torch.Tensor, pages: torch.Tensor, last_page_len: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gather keys and values of a request from a cache (pages, 2, page_size, heads, dim)."""
    used = cache[pages.long()]
    length = max(len(pages) - 1, 0) * cache.shape[2] + (last_page_len if len(pages) else 0)
    return used[:, 0].flatten(0, 1)[:length], used[:, 1].flatten(0, 1)[:length]


def single_prefill(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    custom_mask: torch.Tensor | None,
    causal: bool,
    window_left: int,
    logits_soft_cap: float,
) -> torch.Tensor:
    mask, causal = custom_mask, causal and custom_mask is None
    return attention(q, k, v, causal, window_left, logits_soft_cap, mask=mask)[0]


def single_prefill_lse(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool,
    window_left: int,
    logits_soft_cap: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    return attention(q, k, v, causal, window_left, logits_soft_cap)


def single_decode(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, window_left: int, logits_soft_cap: float
) -> torch.Tensor:
    return attention(q[None], k, v, True, window_left, logits_soft_cap)[0][0]


def batch_ragged(
    qo_indptr: torch.Tensor,
    kv_indptr: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim_qk: int,
    head_dim_vo: int,
    custom_mask: torch.Tensor | None,
    causal: bool,
    window_left: int,
    logits_soft_cap: float,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    sinks: torch.Tensor | None,
) -> torch.Tensor:
    out = q.new_zeros((*q.shape[:-1], v.shape[-1]), dtype=torch.float64)
    starts, ends, at = qo_indptr.tolist(), kv_indptr.tolist(), 0
    for i in range(len(starts) - 1):
        mine, keys = slice(starts[i], starts[i + 1]), slice(ends[i], ends[i + 1])
        mask, size = None, len(q[mine]) * len(k[keys])
        if custom_mask is not None:
            mask = custom_mask[at : at + size].view(len(q[mine]), len(k[keys]))
        at += size
        visible = causal and mask is None
        out[mine] = attention(
            q[mine], k[keys], v[keys], visible, window_left, logits_soft_cap, mask=mask, sinks=sinks
        )[0]
    return out


def batch_paged(
    qo_indptr: torch.Tensor,
    paged_kv_indptr: torch.Tensor,
    paged_kv_indices: torch.Tensor,
    paged_kv_last_page_len: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim_qk: int,
    page_size: int,
    causal: bool,
    window_left: int,
    logits_soft_cap: float,
    q: torch.Tensor,
    paged_kv_cache: torch.Tensor,
    sinks: torch.Tensor | None,
) -> torch.Tensor:
    out = torch.zeros_like(q, dtype=torch.float64)
    starts, pages = qo_indptr.tolist(), paged_kv_indptr.tolist()
    for i, last in enumerate(paged_kv_last_page_len.tolist()):
        mine, used = slice(starts[i], starts[i + 1]), paged_kv_indices[pages[i] : pages[i + 1]]
        k, v = _gathered(paged_kv_cache, used, last)
        out[mine] = attention(q[mine], k, v, causal, window_left, logits_soft_cap, sinks=sinks)[0]
    return out


def batch_decode(
    indptr: torch.Tensor,
    indices: torch.Tensor,
    last_page_len: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    page_size: int,
    window_left: int,
    logits_soft_cap: float,
    q: torch.Tensor,
    paged_kv_cache: torch.Tensor,
    sinks: torch.Tensor | None,
) -> torch.Tensor:
    ones = torch.arange(len(q) + 1)
    return batch_paged(
        ones,
        indptr,
        indices,
        last_page_len,
        num_qo_heads,
        num_kv_heads,
        head_dim,
        page_size,
        True,
        window_left,
        logits_soft_cap,
        q,
        paged_kv_cache,
        sinks,
    )


def block_rows(
    indptr: torch.Tensor,
    indices: torch.Tensor,
    M: int,
    N: int,
    R: int,
    C: int,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    causal: bool,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
) -> torch.Tensor:
    out = torch.zeros_like(q, dtype=torch.float64)
    for row, (begin, end) in enumerate(pairwise(indptr.tolist())):
        blocks = indices[begin:end].long()
        keys = (blocks[:, None] * C + torch.arange(C, device=q.device)).flatten()
        queries = slice(row * R, (row + 1) * R)
        out[queries] = attention(q[queries], k[keys], v[keys], causal)[0]
    return out


def block_mask(
    block_mask_map: torch.Tensor,
    block_row_sz: torch.Tensor,
    block_col_sz: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    causal: bool,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
) -> torch.Tensor:
    out = torch.zeros_like(q, dtype=torch.float64)
    group = num_qo_heads // max(num_kv_heads, 1)
    for head in range(num_kv_heads):
        own = slice(head * group, (head + 1) * group)
        sizes = block_col_sz[head].long()
        begin = 0
        for row, count in enumerate(block_row_sz[head].tolist()):
            keys = block_mask_map[head, row].repeat_interleave(sizes)
            queries = slice(begin, begin + count)
            begin += count
            rows = q[own, queries].transpose(0, 1)
            seen = (k[head, keys][:, None], v[head, keys][:, None])
            out[own, queries] = attention(rows, *seen, causal)[0].transpose(0, 1)
    return out


def mixed_batch(
    qo_indptr: torch.Tensor,
    kv_indptr: torch.Tensor,
    kv_indices: torch.Tensor,
    kv_len_arr: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim_qk: int,
    head_dim_vo: int,
    page_size: int,
    causal: bool,
    q: torch.Tensor,
    kv_cache: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    out = torch.zeros_like(q, dtype=torch.float64)
    lse = out.new_zeros(q.shape[:2])
    starts, pages = qo_indptr.tolist(), kv_indptr.tolist()
    for i, length in enumerate(kv_len_arr.tolist()):
        mine = slice(starts[i], starts[i + 1])
        used = kv_cache[kv_indices[pages[i] : pages[i + 1]].long()]
        k, v = (used[:, of].flatten(0, 1)[:length] for of in (0, 1))
        out[mine], lse[mine] = attention(q[mine], k, v, causal)
    return out, lse


def pod(
    indptr: torch.Tensor,
    indices: torch.Tensor,
    last_page_len: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    page_size: int,
    q_p: torch.Tensor,
    k_p: torch.Tensor,
    v_p: torch.Tensor,
    q_d: torch.Tensor,
    paged_kv_cache_d: torch.Tensor,
    causal_p: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    prefilled = attention(q_p, k_p, v_p, causal_p)[0]
    sizes = (num_qo_heads, num_kv_heads, head_dim, page_size)
    table = (indptr, indices, last_page_len)
    decoded = batch_decode(*table, *sizes, -1, 0.0, q_d, paged_kv_cache_d, None)
    return prefilled, decoded


def batch_pod(
    qo_indptr_p: torch.Tensor,
    kv_indptr_p: torch.Tensor,
    kv_indices_p: torch.Tensor,
    last_page_len_p: torch.Tensor,
    qo_indptr_d: torch.Tensor,
    kv_indptr_d: torch.Tensor,
    kv_indices_d: torch.Tensor,
    last_page_len_d: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    page_size: int,
    q_p: torch.Tensor,
    paged_kv_cache_p: torch.Tensor,
    q_d: torch.Tensor,
    paged_kv_cache_d: torch.Tensor,
    causal_p: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    sizes = (num_qo_heads, num_kv_heads, head_dim, page_size)
    of_p = (qo_indptr_p, kv_indptr_p, kv_indices_p, last_page_len_p)
    of_d = (qo_indptr_d, kv_indptr_d, kv_indices_d, last_page_len_d)
    return (
        batch_paged(*of_p, *sizes, causal_p, -1, 0.0, q_p, paged_kv_cache_p, None),
        batch_paged(*of_d, *sizes, False, -1, 0.0, q_d, paged_kv_cache_d, None),
    )


def causal_or_range(
    q_len: int, kv_len: int, ranges: torch.Tensor, causal_window: int, range_window: int
) -> torch.Tensor:
    """Compute what the queries of a request see: (q_len, kv_len)."""
    keys = torch.arange(kv_len, device=ranges.device)
    distance = (torch.arange(q_len, device=ranges.device) + kv_len - q_len)[:, None] - keys
    causal = distance >= 0
    if causal_window >= 0:
        causal &= distance <= causal_window
    inside = (keys >= ranges[:, :1]) & (keys <= ranges[:, 1:])
    if range_window > 0:
        inside &= distance < range_window
    return causal | inside


def ranges(
    qo_indptr: torch.Tensor,
    paged_kv_indptr: torch.Tensor,
    paged_kv_indices: torch.Tensor,
    paged_kv_last_page_len: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim_qk: int,
    page_size: int,
    q: torch.Tensor,
    paged_kv_cache: torch.Tensor,
    bidirectional_ranges: torch.Tensor,
    causal_window_left: int,
    range_window_left: int,
) -> torch.Tensor:
    out = torch.zeros_like(q, dtype=torch.float64)
    starts, pages = qo_indptr.tolist(), paged_kv_indptr.tolist()
    for i, last in enumerate(paged_kv_last_page_len.tolist()):
        mine = slice(starts[i], starts[i + 1])
        used = paged_kv_cache[paged_kv_indices[pages[i] : pages[i + 1]].long()]
        length = (len(used) - 1) * page_size + last if len(used) else 0
        k, v = (used[:, of].flatten(0, 1)[:length] for of in (0, 1))
        ranges = bidirectional_ranges[mine]
        seen = causal_or_range(len(q[mine]), length, ranges, causal_window_left, range_window_left)
        out[mine] = attention(q[mine], k, v, mask=seen)[0]
    return out
