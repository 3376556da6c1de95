"""Batches as calls with page tables have them: what no request needs is garbage or NaN."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import torch

from fictl.kernels.attention.planned_decode.op import trtllm_batch_decode_with_kv_cache

from .reference import Batch

# Far from any page: an address made of it faults on a GPU, and is reported when emulated.
NO_PAGE = -(1 << 30)
RESERVED = 8 << 20


def table(batch: Batch, beyond: int = 2) -> torch.Tensor:
    """(requests, most pages): rows of a wider table, with garbage after the last page in use."""
    starts, pages, _ = batch.page_table()
    most = max([*batch.page_counts, 0]) + beyond
    wide = torch.full((len(batch.kv_lens), most + 3), NO_PAGE, dtype=torch.int32)
    for row, count in enumerate(batch.page_counts):
        wide[row, :count] = pages[starts[row] : starts[row] + count]
    return wide.to(batch.device)[:, :most]


def own_tables(batch: Batch) -> tuple[tuple[torch.Tensor, torch.Tensor], torch.Tensor]:
    """A pair whose values lie in pages of another order, with (requests, 2, most pages) of both."""
    k, v = batch.caches()
    shared = table(batch)
    tables = torch.full(
        (len(shared), 2, shared.shape[1] + 1), NO_PAGE, dtype=torch.int32, device=batch.device
    )
    tables[:, 0, :-1] = shared
    tables[:, 1, :-1] = torch.where(shared == NO_PAGE, NO_PAGE, len(v) - 1 - shared)
    return (k, v.flip(0)), tables


def ints(values: list[int], device: str) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32, device=device)


def moved(values: dict[str, Any], device: str) -> dict[str, Any]:
    """Options of a table of tests, with their tensors on the device."""
    return {name: x.to(device) if torch.is_tensor(x) else x for name, x in values.items()}


def starts(batch: Batch) -> torch.Tensor:
    return ints([0, *accumulate(batch.q_lens)], batch.device)


def memory(device: str) -> torch.Tensor:
    """A workspace as FlashInfer's contract has it: zeros first, and then anything."""
    made = torch.full(((64 if device == "cuda" else 12) << 20,), 255, dtype=torch.uint8)
    made[:RESERVED] = 0
    return made.to(device)


def counters_are_zero(workspace: torch.Tensor) -> bool:
    return not bool(workspace[:RESERVED].any())


def drafts(batch: Batch) -> dict[str, Any]:
    """How many queries requests have, in trtllm_batch_decode_with_kv_cache's words."""
    if len({*batch.q_lens}) == 1:
        return {"q_len_per_req": batch.q_lens[0]}
    most = max(batch.q_lens)
    return {"q_len_per_req": None, "cum_seq_lens_q": starts(batch), "max_q_len": most}


def decode(batch: Batch, workspace: torch.Tensor, **options: Any) -> Any:
    """Call trtllm_batch_decode_with_kv_cache with all that tests leave alone."""
    given = {
        "bmm1_scale": batch.shape.dim**-0.5,
        "kv_layout": batch.shape.layout,
        **drafts(batch),
        **options,
    }
    return trtllm_batch_decode_with_kv_cache(
        batch.q,
        given.pop("kv_cache", batch.cache()),
        workspace,
        given.pop("block_tables", table(batch)),
        given.pop("seq_lens", ints([*batch.kv_lens], batch.device)),
        max_seq_len=1,
        **given,
    )


def packed(masks: list[torch.Tensor], most: int) -> torch.Tensor:
    """Bits of (drafts, drafts) of each request: rows of words of 16, behind one another."""
    words = 2 * -(-most // 32)
    rows = torch.zeros(sum(map(len, masks)), 16 * words, dtype=torch.int64)
    at = 0
    for mask in masks:
        rows[at : at + len(mask), : mask.shape[1]] = mask
        at += len(mask)
    values = (rows.view(-1, words, 16) << torch.arange(16)).sum(-1)
    return values.to(torch.uint16)
