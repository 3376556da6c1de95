"""quantize_rows: float8_e4m3fn, with a scale for each group of a row."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="q scales")
def quantize_rows(
    x: torch.Tensor,
    group_size: int = 128,
    q: torch.Tensor | None = None,
    scales: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantize rows to float8_e4m3fn, group by group: x is about q * its group's scale.

    A scale is the largest magnitude of its group, 1e-10 at least, over the largest number of
    float8_e4m3fn. A NaN makes its group's scale NaN, an infinity makes it infinite.

    x: (tokens, hidden); last dimension contiguous, all rows at one stride.
    group_size: adjacent elements of a row with one scale, which divides hidden; hidden itself for
        a scale a row.
    q: like x, of float8_e4m3fn, at any row stride. None allocates it.
    scales: (tokens, hidden / group_size), float32, contiguous. None allocates it.
    """
    if q is None:
        q = x.new_empty(x.shape, dtype=torch.float8_e4m3fn)
    if scales is None:
        groups = x.shape[-1] // max(group_size, 1)
        scales = x.new_empty((*x.shape[:-1], groups), dtype=torch.float32)
    kernel.quantize_rows(q, scales, x, group_size)
    return q, scales
