"""shift: an op that goes wrong as it is asked to."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)


@op(archs=">=8.0", dtypes="i32", devices="cuda emu", mutates="out")
def shift(input: torch.Tensor, by: int, out: torch.Tensor | None = None) -> torch.Tensor:
    """Element i goes to out[i + by]: with any `by` but 0 beyond the end."""
    if out is None:
        out = torch.zeros_like(input)
    kernel.shift(out, input, by)
    return out


@op(archs=">=8.0", dtypes="i32", devices="cuda emu", mutates="")
def spoil(input: torch.Tensor) -> None:
    """Writes the input, which its declaration denies."""
    kernel.shift(input, input, 0)
