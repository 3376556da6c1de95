"""Work of many queries: which kernel takes it, in tiles of how many rows."""

from __future__ import annotations

import torch

from .._arguments.options import Options
from .._backends import AUTO, FEW_ROWS, PREFILL
from .._config import EIGHTHS
from .._sm90_tiles import choose, gathers
from .._tiles import tile_rows
from .attention import Work
from .lengths import Lengths


def prefill_work(
    op: str,
    device: torch.device,
    asked: str,
    lengths: Lengths,
    chosen: Options,
    queries: int,
    *,
    masked: bool,
    has_variant: bool,
    why: str,
    argument: str = "float_workspace_buffer",
) -> Work:
    """Choose the kernel that `asked` stands for, and its tile. `argument` is what is on `device`."""
    dims = (chosen.head_dim, chosen.head_dim_v)
    choice = PREFILL.choose(
        op,
        device,
        asked,
        *dims,
        chosen.group,
        chosen.positions,
        chosen.kv,
        # Who asks for a kernel gets it for few queries, too.
        asked == AUTO and queries * chosen.group <= FEW_ROWS * lengths.requests,
        argument=argument,
    )
    work = Work(lengths, chosen, 0, masked, f"{why}; {choice.why}", choice.backend)
    if choice.backend == "sm80":
        rows = tile_rows(queries, lengths.requests, chosen.group, *dims, device)
        return work._replace(rows=rows)
    is_plain = chosen.soft_cap == 0.0 and chosen.positions == "NONE"
    tile = choose(
        *dims,
        group=chosen.group,
        simple=is_plain and not masked and not has_variant,
        copied=chosen.kv in EIGHTHS or gathers("sm90", lengths.page_size),
        fp8=chosen.q in EIGHTHS,
    )
    return work._replace(rows=tile.rows, keys=tile.keys)
