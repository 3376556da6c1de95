"""Work of many queries: which kernel takes it, in tiles of how many rows."""

from __future__ import annotations

import torch

from .._arguments.options import Options
from .._backends import AUTO, FEW_ROWS, PREFILL
from .._config import EIGHTHS
from .._tiles import gathers, sm90_tile, tile_rows
from .attention import Work
from .lengths import Lengths


def prefill_work(
    op: str,
    device: torch.device,
    asked: str,
    lengths: Lengths,
    chosen: Options,
    queries: int,
    masked: bool,
    transforms: bool,
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
        chosen.kv,
        # Who asks for a kernel gets it for few queries, too.
        asked == AUTO and queries * chosen.group <= FEW_ROWS * lengths.requests,
    )
    work = Work(lengths, chosen, rows, masked, f"{why}; {choice.why}", choice.backend)
    if choice.backend == "sm80":
        return work
    simple = not masked and not transforms and not chosen.soft_cap and chosen.positions == "NONE"
    tile = sm90_tile(
        chosen.head_dim,
        group=chosen.group,
        sees_all=not chosen.causal and chosen.window_left < 0 and not lengths.page_size,
        simple=simple,
        copied=chosen.kv in EIGHTHS or gathers("sm90", lengths.page_size),
    )
    return work._replace(rows=tile.rows, keys=tile.keys)
