"""Operands of any number of dimensions as matrices, or as batches of them."""

from __future__ import annotations

from typing import NamedTuple

import torch


class Matrices(NamedTuple):
    """Operands as kernels take them: all of two dimensions, or all of three.

    shape: of the product, (..., m, n), as the caller sees it.
    """

    a: torch.Tensor
    b: torch.Tensor
    c: torch.Tensor | None
    shape: tuple[int, ...]


def matrices(op: str, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor | None) -> Matrices:
    """Flatten leading dimensions: those of a to its rows where b is one matrix, else to a batch.

    What no strides describe is copied, by torch.
    """
    shape: tuple[int, ...] = (*a.shape[:-1], b.shape[-2])
    if b.dim() > 2:
        shape = (*_broadcast(op, a, b), *shape[-2:])
        a, b = (_batch(x, shape[:-2]) for x in (a, b))
    if c is not None:
        if c.shape != shape:
            raise ValueError(
                f"{op}: argument 'c' has shape {tuple(c.shape)}; with 'a' of {tuple(a.shape)} and "
                f"'b' of {tuple(b.shape)} it has {shape}"
            )
        c = _flat(c, b.dim())
        c = c if c.shape[-1] <= 1 or c.stride(-1) == 1 else c.contiguous()
    return Matrices(_flat(a, b.dim()), b, c, shape)


def destination(out: torch.Tensor, dims: int) -> torch.Tensor:
    """Return `out` of that many dimensions, or memory of its size if kernels cannot write it."""
    if out.dim() == dims and (out.shape[-1] <= 1 or out.stride(-1) == 1):
        return out
    flat = out if out.is_contiguous() else out.new_empty(out.shape)
    return _flat(flat, dims)


def _broadcast(op: str, a: torch.Tensor, b: torch.Tensor) -> tuple[int, ...]:
    try:
        return tuple(torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]))  # type: ignore[no-untyped-call]
    except RuntimeError:
        raise ValueError(
            f"{op}: arguments 'a' and 'b' have shapes {tuple(a.shape)} and {tuple(b.shape)}, whose "
            "leading dimensions cannot be broadcast"
        ) from None


def _batch(x: torch.Tensor, leading: tuple[int, ...]) -> torch.Tensor:
    """Expand to the leading dimensions, and flatten them to one."""
    wide = x if x.shape[:-2] == leading else x.expand(*leading, *x.shape[-2:])
    return wide if len(leading) == 1 else wide.flatten(0, -3)


def _flat(x: torch.Tensor, dims: int) -> torch.Tensor:
    """Flatten leading dimensions until there are `dims`."""
    return x if x.dim() <= dims else x.flatten(0, x.dim() - dims)
