"""twice, in torch alone: tiny_project's op with tactics, of which the second is the fast one."""

from __future__ import annotations

import time

import torch

from fictl.op import op


def waits() -> tuple[int, ...]:
    return 4, 1, 3, 13


@op(archs=">=8.0", dtypes="f16 f32", devices="cuda emu", mutates="out", tactics=waits)
def twice(
    input: torch.Tensor, out: torch.Tensor | None = None, tactic: int | None = None
) -> torch.Tensor:
    """input * 2, after so many halves of a millisecond; 13 is unlucky."""
    if tactic == 13:
        raise RuntimeError("13 is unlucky")
    time.sleep((tactic or 0) / 2000)
    return torch.mul(input, 2, out=torch.empty_like(input) if out is None else out)
