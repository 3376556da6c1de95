"""Expected results of attention's calls as programs make them: in fp64, from the arguments alone.

A replay of recorded calls asks here. Nothing is shared with the wrappers but the attention of one
request; layouts, scales, windows and masks are read as FlashInfer describes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch

from ._trace.axes import TOLERANCES
from ._trace.reference import attention

_E2M1 = [sign * x for sign in (1.0, -1.0) for x in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)]
_TO_A_FACTOR = 16
Given = Mapping[str, Any]
Pair = tuple[torch.Tensor, torch.Tensor]

# Probabilities are rounded to fp8 before they are multiplied by values of fp8.
_OF_FP8 = {"float32": (1e-2, 2e-2), "float16": (5e-2, 5e-2), "bfloat16": (6e-2, 6e-2)}


def _number(value: Any) -> float:
    return 1.0 if value is None else float(value)


def _result(given: Given, q: torch.Tensor, out: torch.Tensor, lse: torch.Tensor) -> dict[str, Any]:
    returned = (out, lse) if given.get("return_lse") else (out,)
    return {"returned": returned, "tolerances": _OF_FP8 if q.itemsize == 1 else TOLERANCES}


def _slots(cache: torch.Tensor | Pair, hnd: bool, factors: torch.Tensor | Pair | None) -> Pair:
    """Return keys and values as (pages, slots, heads, dim); factors are those of 4-bit ones."""
    k, v = _two(cache)
    if factors is not None:
        k, v = (_of_nibbles(*pair) for pair in zip((k, v), _two(factors), strict=True))
    if k.ndim == 3:  # pages of one slot
        return k[:, None], v[:, None]
    return (k.transpose(1, 2), v.transpose(1, 2)) if hnd else (k, v)


def _cache(built: Given, given: Given) -> Pair:
    hnd = built.get("kv_layout", "NHD") == "HND"
    return _slots(given["paged_kv_cache"], hnd, given.get("kv_cache_sf"))


def _two(cache: torch.Tensor | Pair) -> Pair:
    return (cache[:, 0], cache[:, 1]) if isinstance(cache, torch.Tensor) else cache


def _of_nibbles(packed: torch.Tensor, factors: torch.Tensor) -> torch.Tensor:
    """Return the values of e2m1 pairs, the first in the low bits, 16 to a factor."""
    nibbles = torch.stack([packed & 15, packed >> 4], -1).flatten(-2).long()
    values = torch.tensor(_E2M1, device=packed.device)[nibbles]
    wide = factors.float().repeat_interleave(_TO_A_FACTOR, -1)
    return values * wide


def _of_pages(slots: Pair, pages: torch.Tensor, length: int) -> Pair:
    used = -(-length // slots[0].shape[1])
    return tuple(x[pages[:used].long()].flatten(0, 1)[:length] for x in slots)  # type: ignore[return-value]


def _scores(planned: Given, given: Given, dim: int) -> dict[str, Any]:
    """Return the options of one request's attention: those of forward() win over plan()'s."""
    own = given if "logits_soft_cap" in given else planned  # only forward() has it besides plan()
    scale = own.get("sm_scale") or dim**-0.5
    return {
        "causal": bool(own.get("causal", False)),
        "window_left": own.get("window_left", -1),
        "logits_soft_cap": own.get("logits_soft_cap"),
        "sm_scale": scale * _number(given.get("q_scale")) * _number(given.get("k_scale")),
        "sinks": given.get("sinks"),
    }


def _requests(
    q: torch.Tensor,
    begins: Sequence[int],
    keys: Callable[[int], Pair],
    v_scale: float,
    options: Mapping[str, Any],
    masks: Sequence[torch.Tensor | None] | None = None,
) -> Pair:
    """Attend each request; rows beyond the last one are 0, as where there are no keys."""
    out = q.new_zeros(q.shape, dtype=torch.float64)
    lse = out.new_full(q.shape[:2], -torch.inf)
    for i in range(len(begins) - 1):
        rows = slice(begins[i], begins[i + 1])
        if begins[i] == begins[i + 1]:
            continue
        mask = masks[i] if masks is not None else None
        out[rows], lse[rows] = attention(q[rows], *keys(i), mask=mask, **options)
    return out * v_scale, lse


def _lengths(pages: Sequence[int], last: Sequence[int], size: int) -> list[int]:
    counts = [end - begin for begin, end in pairwise(pages)]
    return [(count - 1) * size + n if count else 0 for count, n in zip(counts, last, strict=True)]


def _decode(built: Given, planned: Given, given: Given) -> dict[str, Any]:
    """Return what a decode wrapper computes; fast_decode_plan has fewer arguments than plan()."""
    q = given["q"]
    slots = _cache(built, given)
    size, q_len = planned["page_size"], planned.get("q_len_per_req") or 1
    override = planned.get("global_override_indptr_cpu")
    last = planned["last_page_len"].tolist()
    pages = (planned["indptr"] if override is None else override).tolist()[: len(last) + 1]
    lengths = _lengths(pages, [1] * len(last) if size == 1 else last, size)
    if planned.get("seq_lens") is not None:
        lengths = planned["seq_lens"].tolist()
    indices = planned["indices"].to(q.device)
    options = {**_scores(planned, given, q.shape[-1]), "causal": q_len > 1}
    out, lse = _requests(
        q,
        [q_len * i for i in range(len(last) + 1)],
        lambda i: _of_pages(slots, indices[pages[i] :], lengths[i]),
        _number(given.get("v_scale")),
        options,
    )
    return _result(given, q, out, lse)


def _paged(built: Given, planned: Given, given: Given) -> dict[str, Any]:
    q = given["q"]
    slots = _cache(built, given)
    begins = planned["qo_indptr"].tolist()
    pages = planned["paged_kv_indptr"].tolist()
    indices = planned["paged_kv_indices"].to(q.device)
    lengths = _lengths(pages, planned["paged_kv_last_page_len"].tolist(), planned["page_size"])
    masks = _custom_masks(planned, begins, lengths, q.device)
    options = _scores(planned, given, q.shape[-1])
    if masks is not None:
        options["causal"] = False
    out, lse = _requests(
        q,
        begins,
        lambda i: _of_pages(slots, indices[pages[i] :], lengths[i]),
        _number(given.get("v_scale")),
        options,
        masks,
    )
    return _result(given, q, out, lse)


def _sinks(built: Given, planned: Given, given: Given) -> dict[str, Any]:
    """Return what the wrapper with sinks computes: the factor of scores is run()'s."""
    again = {**given, "sinks": given["sink"]}
    return _paged(built, {**planned, "sm_scale": _number(given["sm_scale"])}, again)


def _ragged(built: Given, planned: Given, given: Given) -> dict[str, Any]:
    q, k, v = given["q"], given["k"], given["v"]
    if built.get("kv_layout", "NHD") == "HND":
        k, v = k.transpose(0, 1), v.transpose(0, 1)
    begins, ends = planned["qo_indptr"].tolist(), planned["kv_indptr"].tolist()
    out, lse = _requests(
        q,
        begins,
        lambda i: (k[ends[i] : ends[i + 1]], v[ends[i] : ends[i + 1]]),
        _number(given.get("v_scale")),
        _scores(planned, given, q.shape[-1]),
    )
    return _result(given, q, out, lse)


def _custom_masks(
    planned: Given, begins: Sequence[int], lengths: Sequence[int], device: torch.device
) -> list[torch.Tensor | None] | None:
    """Return the mask of each request; None if there is none. Packed ones are not recorded."""
    flat = planned.get("custom_mask")
    if flat is None:
        return None
    masks: list[torch.Tensor | None] = []
    at = 0
    for i, length in enumerate(lengths):
        rows = begins[i + 1] - begins[i]
        masks.append(flat[at : at + rows * length].view(rows, length).bool().to(device))
        at += rows * length
    return masks


def _drafts(given: Given) -> tuple[list[int], list[torch.Tensor | None] | None]:
    """Return where the queries of requests begin, and the drafts' masks among themselves."""
    lengths = given["seq_lens"].flatten()
    cumulative = given.get("q_cu_seq_lens")
    if cumulative is None:
        cumulative = given.get("cum_seq_lens_q")
    q_len = given.get("q_len_per_req") or 1
    if cumulative is not None:
        begins = cumulative.tolist()
    else:
        begins = [q_len * i for i in range(len(lengths) + 1)]
    words = given.get("mask")
    if words is None:
        return begins, None
    rows = words.reshape(-1, words.shape[-1])
    bits = (rows.to(torch.int32)[..., None] >> torch.arange(16, device=rows.device)) & 1
    seen = bits.flatten(1).bool()
    masks: list[torch.Tensor | None] = []
    for begin, end in pairwise(begins):
        masks.append(seen[begin:end, : end - begin])
    return begins, masks


def _by_function(built: Given, planned: Given, given: Given) -> dict[str, Any]:
    """Return what decode or prefill over a table of pages computes: no plan, lengths on the device.

    Keys before the drafts are seen by all of them; a window counts from each draft's own position.
    """
    q, cache = given["query"], given["kv_cache"]
    slots = _slots(cache, given.get("kv_layout", "HND") == "HND", given.get("kv_cache_sf"))
    table, lengths = given["block_tables"], given["seq_lens"].flatten().tolist()
    begins, drafts = _drafts(given)
    masks: list[torch.Tensor | None] | None = None
    if drafts is not None:
        masks = [_whole(mask, length) for mask, length in zip(drafts, lengths, strict=True)]
    out, lse = _requests(
        q,
        begins,
        lambda i: _of_pages(slots, table[i], lengths[i]),
        _number(given.get("bmm2_scale")) * _number(given.get("o_scale")),
        {
            "causal": drafts is None and given.get("causal", True),
            "window_left": given.get("window_left", -1),
            "sm_scale": _number(given.get("bmm1_scale")),
            "sinks": given.get("sinks"),
        },
        masks,
    )
    return _result(given, q, out, lse)


def _whole(mask: torch.Tensor | None, length: int) -> torch.Tensor | None:
    """Return the mask of drafts among all keys of their request."""
    if mask is None:
        return None
    before = mask.new_ones((len(mask), max(length - mask.shape[1], 0)))
    return torch.cat([before, mask], 1)


CALLS = {
    "BatchDecodeWithPagedKVCacheWrapper": _decode,
    "CUDAGraphBatchDecodeWithPagedKVCacheWrapper": _decode,
    "BatchPrefillWithPagedKVCacheWrapper": _paged,
    "BatchPrefillWithRaggedKVCacheWrapper": _ragged,
    "BatchAttentionWithAttentionSinkWrapper": _sinks,
    "trtllm_batch_decode_with_kv_cache": _by_function,
    "xqa_batch_decode_with_kv_cache": _by_function,
    "trtllm_batch_context_with_kv_cache": _by_function,
}
PLANS = ("fast_decode_plan",)
