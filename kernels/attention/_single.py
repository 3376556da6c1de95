"""Attention of one request, planned and run at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch

from fictl.op import KernelModule

from ._arguments import Options
from ._attention import Attention
from ._lengths import Lengths
from ._lse import lse_for_kernel
from ._masks import check_bits

if TYPE_CHECKING:
    from ._define_variant import Variant


def shape_of_keys(op: str, q: torch.Tensor, k: torch.Tensor, hnd: bool) -> tuple[int, int]:
    """How many there are, and of how many heads."""
    if q.ndim != 3 or k.ndim != 3:
        raise ValueError(
            f"{op}: arguments 'q' and 'k' have shapes {tuple(q.shape)} and {tuple(k.shape)}; they "
            "are (tokens, heads, head_dim)"
        )
    return (k.shape[1], k.shape[0]) if hnd else (k.shape[0], k.shape[1])


def attend_one(
    op: str,
    kernel: KernelModule,
    why: str,
    rows: int,
    chosen: Options,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    hnd: bool,
    mask: torch.Tensor | None,
    scale: float,
    v_scale: float,
    out: torch.Tensor | None,
    lse: torch.Tensor | None,
    return_lse: bool,
    sinks: torch.Tensor | None,
    variant: Variant | None,
    scalars: Mapping[str, float] | None,
    enable_pdl: bool | None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """(out, lse), the second where it is asked for. `mask` is packed."""
    made = Attention(op, kernel, q.device, hnd=hnd, one_call=True, variant=variant)
    keys = torch.tensor([0, shape_of_keys(op, q, k, hnd)[0]], dtype=torch.int32)
    one = Lengths(1, keys, q_len=q.shape[0])
    counts = made.plan(one, chosen, rows, masked=mask is not None, why=why)
    if mask is not None:
        check_bits(op, mask, counts.mask_end)
    written = lse_for_kernel(op, lse, q) if return_lse else None
    out = made.run(q, k, v, out, written, None, mask, sinks, scale, v_scale, scalars, enable_pdl)
    return out, written
