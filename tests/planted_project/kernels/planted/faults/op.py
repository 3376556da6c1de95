"""Copies that are wrong on the way: what sanitize and inspect have to find."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def out_of_bounds(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """A copy; one element after the last is read."""
    if out is None:
        out = torch.empty_like(input)
    kernel.out_of_bounds(out, input)
    return out


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def shared_race(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """A copy; shared memory is read before it is there."""
    if out is None:
        out = torch.empty_like(input)
    kernel.shared_race(out, input)
    return out


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def unwritten(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """A copy; scratch that nobody wrote is read."""
    if out is None:
        out = torch.empty_like(input)
    kernel.unwritten(out, input, torch.empty_like(input))
    return out


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def lost_threads(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """A copy; a part of a warp waits at a barrier."""
    if out is None:
        out = torch.empty_like(input)
    kernel.lost_threads(out, input)
    return out


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def spilling(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """A copy; its registers spill."""
    if out is None:
        out = torch.empty_like(input)
    kernel.spilling(out, input)
    return out


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def local_array(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """A copy; an array lies in local memory."""
    if out is None:
        out = torch.empty_like(input)
    kernel.local_array(out, input)
    return out
