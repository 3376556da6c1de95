"""Inputs of attention's traces: batches of requests, page tables, masks, and whether they fit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import torch


def indptr(total: int, among: int, device: str, generator: torch.Generator) -> torch.Tensor:
    """Draw where each share begins: even shares where the total allows it, as benchmarks want them.

    Else they begin at random places, so that some are empty.
    """
    if among and total % among == 0:
        return torch.arange(among + 1, device=device, dtype=torch.int32) * (total // among)
    cuts = torch.randint(0, total + 1, (max(among - 1, 0),), device=device, generator=generator)
    ends = torch.tensor([0, total][: among + 1], device=device)
    return torch.cat([cuts, ends]).sort().values.int()


def page_table(
    sizes: Mapping[str, int], device: str, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Draw (indptr, indices, last_page_len): any pages of the cache, in any order."""
    requests, used, page_size = sizes["requests"], sizes["used_pages"], sizes["page_size"]
    begins = indptr(used, requests, device, generator)
    indices = torch.randperm(sizes["pages"], device=device, generator=generator)[:used].int()
    last = torch.randint(1, page_size + 1, (requests,), device=device, generator=generator)
    is_even = requests > 0 and used % requests == 0
    last = torch.where(begins.diff() > 0, page_size if is_even else last, 0)
    return begins, indices, last.int()


def _mask(shape: tuple[int, ...], device: str, generator: torch.Generator) -> torch.Tensor:
    """Draw a mask that keeps most scores."""
    return torch.rand(shape, device=device, generator=generator) < 15 / 16


def single_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Draw the mask of one request."""
    return {"custom_mask": _mask((sizes["qo_len"], sizes["kv_len"]), device, generator)}


def ragged_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Draw lengths, and a mask if there is one."""
    starts = indptr(sizes["tokens"], sizes["requests"], device, generator)
    ends = indptr(sizes["kv_tokens"], sizes["requests"], device, generator)
    inputs = {"qo_indptr": starts, "kv_indptr": ends}
    if "mask_bits" in sizes:
        inputs["custom_mask"] = _mask((sizes["mask_bits"],), device, generator)
    return inputs


def paged_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Draw lengths and a page table."""
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
    """Draw a page table."""
    begins, indices, last = page_table(sizes, device, generator)
    return {"indptr": begins, "indices": indices, "last_page_len": last}


def unique_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Draw the page table of the requests' own keys."""
    begins, indices, last = page_table(sizes, device, generator)
    names = ("unique_kv_indptr", "unique_kv_indices", "unique_kv_last_page_len")
    return dict(zip(names, (begins, indices, last), strict=True))


def levels_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Draw levels of twice as many requests as before, from one for all; those beyond are empty.

    The first of several levels has an eighth of the pages of each of the others.
    """
    levels, requests = sizes["levels"], sizes["requests"]
    starts = indptr(sizes["tokens"], requests, device, generator)
    by_level: dict[str, list[torch.Tensor]] = {
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
        by_level["qo_indptr_arr"].append(starts[(at * together).clamp(max=requests)])
        by_level["paged_kv_indptr_arr"].append(begins[at])
        room = indices.new_zeros(sizes["used_pages"] - used)
        by_level["paged_kv_indices_arr"].append(torch.cat([indices, room]))
        beyond = last.new_zeros(requests - of_level)
        by_level["paged_kv_last_page_len"].append(torch.cat([last, beyond]))
    return {name: torch.stack(entries) for name, entries in by_level.items()}


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
            f"page {int(indices[outside][0])} is not one of the {len(cache)} of the cache"
        )
    wrong = (begins.diff() > 0) & ((last < 1) | (last > cache.shape[2]))
    if bool(wrong.any()):
        raise ValueError(f"{int(last[wrong][0])} slots of a last page of {cache.shape[2]} are used")


def cache_lengths(begins: torch.Tensor, last: torch.Tensor, page_size: int) -> list[int]:
    """Count the keys of each request."""
    pages = begins.diff()
    return torch.where(pages > 0, (pages - 1) * page_size + last, 0).tolist()


@lru_cache(maxsize=8)
def workspace(device: torch.device) -> torch.Tensor:
    """Make a workspace as large as engines do; all calls that are bound share it."""
    size = 128 << 20 if device.type == "cuda" else 8 << 20
    return torch.empty(size, dtype=torch.uint8, device=device)


def rows_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Draw any blocks, in any order; a block that is drawn twice is seen twice."""
    rows, nnz, blocks = sizes["M"] // sizes["R"], sizes["nnz"], sizes["N"] // sizes["C"]
    starts = indptr(nnz, rows, device, generator)
    columns = torch.randint(0, max(blocks, 1), (nnz,), device=device, generator=generator)
    return {"indptr": starts, "indices": columns.int()}


def blocks_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Draw the blocks that a row sees, half of them or 64; even sizes where the tokens allow it."""
    heads, rows, cols = sizes["num_kv_heads"], sizes["row_blocks"], sizes["col_blocks"]
    scores = torch.rand((heads, rows, cols), device=device, generator=generator)
    seen = scores.topk(min(64, (cols + 1) // 2), -1).indices
    mask = torch.zeros_like(scores, dtype=torch.bool).scatter_(-1, seen, True)
    row_sizes = [indptr(sizes["queries"], rows, device, generator).diff() for _ in range(heads)]
    col_sizes = [indptr(sizes["keys"], cols, device, generator).diff() for _ in range(heads)]
    return {
        "block_mask_map": mask,
        "block_row_sz": torch.stack(row_sizes),
        "block_col_sz": torch.stack(col_sizes),
    }


def mixed_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Draw requests of one query, but for the last, which has all the rest; pages in any order."""
    requests, tokens, used = sizes["requests"], sizes["tokens"], sizes["used_pages"]
    ends = torch.arange(requests + 1, device=device).clamp(max=tokens)
    ends[requests:] = tokens
    begins = indptr(used, requests, device, generator)
    lens = begins.diff() * sizes["page_size"]
    short = torch.randint(0, sizes["page_size"], lens.shape, device=device, generator=generator)
    table = torch.randperm(sizes["pages"], device=device, generator=generator)[:used]
    return {
        "qo_indptr": ends.int(),
        "kv_indptr": begins,
        "kv_indices": table.int(),
        "kv_len_arr": (lens - short).clamp(min=0).int(),
    }


def pod_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    begins, indices, last = page_table(sizes, device, generator)
    return {"indptr": begins, "indices": indices, "last_page_len": last}


def batch_pod_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    inputs: dict[str, torch.Tensor] = {}
    for end in ("p", "d"):
        of = {name: sizes[f"{name}_{end}"] for name in ("requests", "used_pages", "pages")}
        table = page_table({**of, "page_size": sizes["page_size"]}, device, generator)
        names = ("kv_indptr", "kv_indices", "last_page_len")
        inputs |= {f"{name}_{end}": x for name, x in zip(names, table, strict=True)}
        starts = indptr(sizes[f"tokens_{end}"], of["requests"], device, generator)
        inputs[f"qo_indptr_{end}"] = starts
    return inputs


def ranges_init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Draw a page table, and for half of the queries a range."""
    inputs = paged_init(sizes, dtype, device, generator)
    tokens, keys = sizes["tokens"], sizes["used_pages"] * sizes["page_size"] + 1
    ends = torch.randint(0, keys, (tokens, 2), device=device, generator=generator).sort(-1).values
    has = torch.rand((tokens, 1), device=device, generator=generator) < 0.5
    return {**inputs, "bidirectional_ranges": ends.where(has, -1).int()}
