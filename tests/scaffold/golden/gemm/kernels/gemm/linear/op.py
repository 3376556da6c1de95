"""linear: the product of a matrix and a transposed one."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)


@op(archs=">=8.0", dtypes="f16 bf16", devices="cuda emu", mutates="out")
def linear(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """a @ b.T, summed in fp32 and rounded once.

    a: (m, k); the elements of a row are neighbours, rows begin at multiples of 16 bytes.
    b: (n, k), as torch.nn.Linear has its weight; rows as those of a.
    out: (m, n), rows at any pitch. None allocates it.
    """
    if out is None:
        shape = len(a), len(b)
        out = a.new_empty(shape)
    kernel[a.dtype].linear(out, a, b)
    return out
