"""Sizes of moe_a2a: tokens of 7168 bf16 values with 8 experts each, few of a decode and many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist

from fictl.bench import Ranks
from fictl.trace import Case

_TOKENS = (8, 128, 1024)


def cases() -> Iterator[Case]:
    yield Case("moe_round_trip", {"tokens": 5, "top_k": 2, "hidden": 24}, "bfloat16")
    for tokens in _TOKENS:
        sizes = {"tokens": tokens, "top_k": 8, "hidden": 7168}
        yield Case("moe_round_trip", sizes, "bfloat16")
    # 8 KiB a token.
    yield Case("moe_round_trip", {"tokens": 128, "top_k": 8, "hidden": 4096}, "float16")


def ranks() -> Ranks:
    return Ranks("all_to_all", of="input")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _to_all_and_back}


def _to_all_and_back(
    token_selected_experts: torch.Tensor, input: torch.Tensor, num_experts: int
) -> Callable[[], torch.Tensor]:
    """Send by torch.distributed.all_to_all_single, with the places and sizes known before."""
    size = dist.get_world_size() if dist.is_initialized() else 1
    here = num_experts // size
    is_for = [_is_for(token_selected_experts, rank * here, here) for rank in range(size)]
    index = torch.cat([one.nonzero()[:, 0] for one in is_for])
    splits = [int(one.sum()) for one in is_for]
    came = _came(torch.tensor(splits, device=input.device)) if size > 1 else splits
    rows = input.new_empty((sum(came), *input.shape[1:]))
    back = input.new_empty((sum(splits), *input.shape[1:]))

    def run() -> torch.Tensor:
        sent = input[index]
        if size > 1:
            dist.all_to_all_single(rows, sent, came, splits)
            dist.all_to_all_single(back, rows, splits, came)
        else:
            back.copy_(sent)
        total = torch.zeros(input.shape, dtype=torch.float32, device=input.device)
        return total.index_add_(0, index, back.float()).to(input.dtype)

    return run


def _came(sent: torch.Tensor) -> list[int]:
    every = [torch.empty_like(sent) for _ in range(len(sent))]
    dist.all_gather(every, sent)
    return [int(one[dist.get_rank()]) for one in every]


def _is_for(experts: torch.Tensor, first: int, count: int) -> torch.Tensor:
    return ((experts >= first) & (experts < first + count)).any(-1)
