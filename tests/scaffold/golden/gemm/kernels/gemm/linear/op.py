"""linear: multiply a matrix by a transposed one."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)


@op(archs=">=8.0", dtypes="f16 bf16", devices="cuda emu", mutates="out")
def linear(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Compute a @ b.T, summed in fp32 and rounded once.

    a: (m, k); last dimension contiguous, rows aligned to 16 bytes.
    b: (n, k), like the weight of torch.nn.Linear; strides as a's.
    out: (m, n), last dimension contiguous, any row stride. None allocates it.
    """
    if out is None:
        shape = len(a), len(b)
        out = a.new_empty(shape)
    kernel[a.dtype].linear(out, a, b)
    return out
