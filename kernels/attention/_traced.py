"""What the traces of attention share: axes, batches of requests, and what a call costs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, Var

Axes: TypeAlias = dict[str, Const | Expr | Var]
Inputs: TypeAlias = dict[str, Tensor | Scalar]

# Softmax and two products lose more than one rounding of the result: probabilities are rounded to
# the type of the values before they are multiplied. Errors are of the size of values, not of sums.
# float32 is what an lse is of: the sum of the rounded probabilities, of 2^-9 each, or 0.003 of log2.
TOLERANCES = {
    "float32": (1e-3, 4e-3),
    "float16": (5e-3, 3e-3),
    "bfloat16": (2e-2, 1.6e-2),
}

HEADS: Axes = {
    "num_qo_heads": Const("heads of queries", "h"),
    "num_kv_heads": Const("heads of keys and values", "kv"),
}
PAGES: Axes = {
    "requests": Var("requests"),
    "len_indptr": Expr("requests + 1", "requests, and one"),
    "pages": Var("pages of the cache"),
    "used_pages": Var("pages of the requests"),
    "page_size": Const("slots a page", "ps"),
    "kv": Const("keys and values", value=2),
}
HEAD_COUNTS: Inputs = {
    "num_qo_heads": Scalar("int32", doc="heads of queries"),
    "num_kv_heads": Scalar("int32", doc="heads of keys and values"),
}
CAUSAL: Inputs = {"causal": Scalar("bool", True, "whether later keys are not seen")}
SCORES: Inputs = {
    "window_left": Scalar("int32", -1, "how many keys before its own a query sees; -1: all"),
    "logits_soft_cap": Scalar("float32", 0.0, "what logits stay below; 0: they are as they are"),
}
SINKS: Inputs = {
    "sinks": Tensor(
        ("num_qo_heads",), dtype="float32", optional=True, doc="logit of a key without a value"
    )
}

# What tests of attention look into, and traces do not; and what is FlashInfer's alone.
CORNERS = ("return_lse", "kv_cache_sf")
PREFILL_CORNERS = (*CORNERS, "packed_custom_mask", "use_fp16_qk_reduction")
PLAN_CORNERS = (
    *PREFILL_CORNERS,
    "non_blocking",
    "disable_split_kv",
    "seq_lens",
    "seq_lens_q",
    "prefix_len_ptr",
    "token_pos_in_items_ptr",
    "token_pos_in_items_len",
    "max_item_len_ptr",
)


def indptr(total: int, among: int, device: str, generator: torch.Generator) -> torch.Tensor:
    """Where each share begins: even ones where the total allows it, as benchmarks want them.

    Else at random places, so that some are empty.
    """
    if among and total % among == 0:
        return torch.arange(among + 1, device=device, dtype=torch.int32) * (total // among)
    cuts = torch.randint(0, total + 1, (max(among - 1, 0),), device=device, generator=generator)
    ends = torch.tensor([0, total][: among + 1], device=device)
    return torch.cat([cuts, ends]).sort().values.int()


def page_table(
    sizes: Mapping[str, int], device: str, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(indptr, indices, last_page_len): any pages of the cache, in any order."""
    requests, used, page_size = sizes["requests"], sizes["used_pages"], sizes["page_size"]
    begins = indptr(used, requests, device, generator)
    indices = torch.randperm(sizes["pages"], device=device, generator=generator)[:used].int()
    last = torch.randint(1, page_size + 1, (requests,), device=device, generator=generator)
    is_even = requests > 0 and used % requests == 0
    last = torch.where(begins.diff() > 0, page_size if is_even else last, 0)
    return begins, indices, last.int()


def _mask(shape: tuple[int, ...], device: str, generator: torch.Generator) -> torch.Tensor:
    """Most scores are kept."""
    return torch.rand(shape, device=device, generator=generator) < 15 / 16


def single_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    return {"custom_mask": _mask((sizes["qo_len"], sizes["kv_len"]), device, generator)}


def ragged_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    starts = indptr(sizes["tokens"], sizes["requests"], device, generator)
    ends = indptr(sizes["kv_tokens"], sizes["requests"], device, generator)
    made = {"qo_indptr": starts, "kv_indptr": ends}
    if "mask_bits" in sizes:
        made["custom_mask"] = _mask((sizes["mask_bits"],), device, generator)
    return made


def paged_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    begins, indices, last = page_table(sizes, device, generator)
    return {
        "qo_indptr": indptr(sizes["tokens"], sizes["requests"], device, generator),
        "paged_kv_indptr": begins,
        "paged_kv_indices": indices,
        "paged_kv_last_page_len": last,
    }


def decode_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    begins, indices, last = page_table(sizes, device, generator)
    return {"indptr": begins, "indices": indices, "last_page_len": last}


def unique_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    begins, indices, last = page_table(sizes, device, generator)
    names = ("unique_kv_indptr", "unique_kv_indices", "unique_kv_last_page_len")
    return dict(zip(names, (begins, indices, last), strict=True))


def levels_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Levels of twice as many requests as before, from one for all; those beyond are empty.

    Of several levels, the first has an eighth of the pages of each of the others.
    """
    levels, requests = sizes["levels"], sizes["requests"]
    starts = indptr(sizes["tokens"], requests, device, generator)
    made: dict[str, list[torch.Tensor]] = {
        "qo_indptr_arr": [],
        "paged_kv_indptr_arr": [],
        "paged_kv_indices_arr": [],
        "paged_kv_last_page_len": [],
    }
    for level in range(levels):
        first = level == 0 and levels > 1
        together = max(requests, 1) if first else 2 ** (levels - 1 - level)
        of_level = -(-requests // together)
        used = (sizes["used_pages"] + 7) // 8 if first else sizes["used_pages"]
        table = {**sizes, "requests": of_level, "used_pages": used}
        begins, indices, last = page_table(table, device, generator)
        at = torch.arange(requests + 1, device=device).clamp(max=of_level)
        made["qo_indptr_arr"].append(starts[(at * together).clamp(max=requests)])
        made["paged_kv_indptr_arr"].append(begins[at])
        room = indices.new_zeros(sizes["used_pages"] - used)
        made["paged_kv_indices_arr"].append(torch.cat([indices, room]))
        beyond = last.new_zeros(requests - of_level)
        made["paged_kv_last_page_len"].append(torch.cat([last, beyond]))
    return {name: torch.stack(entries) for name, entries in made.items()}


def check_table(
    begins: torch.Tensor, indices: torch.Tensor, last: torch.Tensor, cache: torch.Tensor
) -> None:
    """Raise ValueError for pages that a cache (pages, 2, page_size, heads, dim) does not have."""
    ends = begins.tolist()
    if ends != sorted(ends) or ends[0] < 0 or ends[-1] > len(indices):
        raise ValueError(f"page indices go from {ends[0]} to {ends[-1]} of {len(indices)}")
    outside = (indices < 0) | (indices >= len(cache))
    if bool(outside.any()):
        raise ValueError(
            f"page {int(indices[outside][0])} is none of the {len(cache)} of the cache"
        )
    wrong = (begins.diff() > 0) & ((last < 1) | (last > cache.shape[2]))
    if bool(wrong.any()):
        raise ValueError(f"{int(last[wrong][0])} slots of a last page of {cache.shape[2]} are used")


def cache_lengths(begins: torch.Tensor, last: torch.Tensor, page_size: int) -> list[int]:
    """How many keys each request has."""
    pages = begins.diff()
    return torch.where(pages > 0, (pages - 1) * page_size + last, 0).tolist()


def seen(q_len: int, kv_len: int, causal: bool, window_left: int) -> int:
    """How many scores of a head no mask takes away."""
    own = torch.arange(q_len) + kv_len - q_len
    last = own.clamp(max=kv_len - 1) if causal else torch.full_like(own, kv_len - 1)
    first = (own - window_left).clamp(min=0) if window_left >= 0 else torch.zeros_like(own)
    return int((last - first + 1).clamp(min=0).sum())


def flops(inputs: Mapping[str, Any], q_lens: list[int], kv_lens: list[int]) -> int:
    """Two products of every score that is seen."""
    q: torch.Tensor = inputs["q"]
    mask: torch.Tensor | None = inputs.get("custom_mask")
    causal, window = inputs.get("causal", True), inputs["window_left"]
    counted = sum(
        seen(n, m, bool(causal), int(window)) for n, m in zip(q_lens, kv_lens, strict=True)
    )
    scores = counted if mask is None else int(mask.sum())
    return 4 * scores * q.shape[-2] * q.shape[-1]


def moved(inputs: Mapping[str, Any], slots: int, kv: torch.Tensor) -> int:
    """Queries in, results out, and the keys and values of as many slots."""
    q: torch.Tensor = inputs["q"]
    heads, dim = kv.shape[-2:]
    return 2 * q.numel() * q.element_size() + 2 * slots * heads * dim * kv.element_size()


@lru_cache(maxsize=8)
def workspace(device: torch.device) -> torch.Tensor:
    """Of a size that engines give; all that are bound take turns with it."""
    size = 128 << 20 if device.type == "cuda" else 8 << 20
    return torch.empty(size, dtype=torch.uint8, device=device)
