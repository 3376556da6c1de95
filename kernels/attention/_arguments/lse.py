"""Log-sum-exps as users ask for them; kernels write (tokens, heads) to base 2."""

from __future__ import annotations

import math

import torch

_LN2 = math.log(2.0)


def check_lse(op: str, base: str, layout: str) -> None:
    """Refuse unknown bases and layouts."""
    if base not in ("log2", "ln"):
        raise ValueError(f"{op}: argument 'lse_base' is {base!r}; it is 'log2' or 'ln'")
    if layout not in ("NH", "HN"):
        raise ValueError(f"{op}: argument 'lse_layout' is {layout!r}; it is 'NH' or 'HN'")


def lse_for_kernel(
    op: str, lse: torch.Tensor | None, q: torch.Tensor, layout: str = "NH"
) -> torch.Tensor:
    """Return the tensor that a kernel writes, (tokens, heads) in fp32: the user's if it fits."""
    tokens, heads = q.shape[0], q.shape[1]
    shape = (tokens, heads) if layout == "NH" else (heads, tokens)
    if lse is not None and (tuple(lse.shape) != shape or lse.dtype is not torch.float32):
        raise ValueError(
            f"{op}: argument 'lse' has shape {tuple(lse.shape)} and dtype {lse.dtype}; it is "
            f"{shape} of torch.float32"
        )
    if lse is not None and layout == "NH":
        return lse
    return torch.empty((tokens, heads), dtype=torch.float32, device=q.device)


def finished_lse(
    written: torch.Tensor, lse: torch.Tensor | None, base: str, layout: str
) -> torch.Tensor:
    """Convert what the kernel has written to the base and layout asked for, into `lse` if given."""
    if layout == "NH":
        return written.mul_(_LN2) if base == "ln" else written
    turned = written.t()
    if lse is None:
        lse = torch.empty(turned.shape, dtype=torch.float32, device=written.device)
    return lse.copy_(turned * _LN2 if base == "ln" else turned)
