"""Work of many queries: which kernel takes it, in tiles of how many rows."""

from __future__ import annotations

import torch

from .._arguments.options import Options
from .._backends import AUTO, PREFILL
from .._tiles import sm90_rows, tile_rows
from .attention import Work
from .lengths import Lengths

_ENOUGH_ROWS = 1 << 30


def prefill_work(
    op: str,
    device: torch.device,
    asked: str,
    lengths: Lengths,
    chosen: Options,
    queries: int,
    masked: bool,
    why: str,
) -> Work:
    """Choose the kernel that `asked` stands for, and its tile."""
    rows = tile_rows(queries, lengths.requests, chosen.group, chosen.head_dim)
    choice = PREFILL.choose(
        op,
        device,
        asked,
        chosen.head_dim,
        chosen.group,
        chosen.positions,
        chosen.q,
        # Who asks for a kernel gets it for few queries, too.
        rows if asked == AUTO else _ENOUGH_ROWS,
    )
    if choice.backend == "sm90":
        rows = sm90_rows(chosen.head_dim)
    return Work(lengths, chosen, rows, masked, f"{why}; {choice.why}", choice.backend)
