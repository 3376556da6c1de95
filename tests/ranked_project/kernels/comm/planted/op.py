"""Communication ops: two that are right, and others that one rank does wrong."""

from __future__ import annotations

import os
import signal

import torch
import torch.distributed as dist

from fictl.op import op


def _sum(x: torch.Tensor, out: torch.Tensor | None) -> torch.Tensor:
    out = torch.empty_like(x) if out is None else out
    dist.all_reduce(out.copy_(x))
    return out


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def right(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum."""
    return _sum(x, out)


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def gathering(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """The rows of all."""
    if out is None:
        out = x.new_empty((dist.get_world_size(), *x.shape))
    dist.all_gather([*out], x)
    return out


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def wrong(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum; the last rank adds one to it."""
    return _sum(x, out).add_(float(dist.get_rank() == dist.get_world_size() - 1))


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def unwritten(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum, of which the last rank writes nothing."""
    if dist.get_rank() == 0:
        return _sum(x, out)
    _sum(x, None)
    return torch.empty_like(x) if out is None else out


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def failing(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum, after which the last rank has an error."""
    out = _sum(x, out)
    if dist.get_rank():
        raise ValueError("planted")
    return out


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def absent(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum, to which the last rank does not come."""
    return _sum(x, out) if dist.get_rank() == 0 else x


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def dying(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """The end of the last rank."""
    if dist.get_rank():
        os.kill(os.getpid(), signal.SIGKILL)
    return _sum(x, out)
