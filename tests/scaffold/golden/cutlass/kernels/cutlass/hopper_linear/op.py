"""hopper_linear: multiply a matrix by a transposed one."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)

# Rows for which the small tile is enough.
_SMALL = 64


@op(archs="9.0a", dtypes="bf16", devices="cuda", mutates="out")
def hopper_linear(
    a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Compute a @ b.T, summed in fp32 and rounded once.

    a: (m, k); last dimension contiguous, rows aligned to 16 bytes.
    b: (n, k), like the weight of torch.nn.Linear; strides as a's.
    out: (m, n), strides as a's. None allocates it.
    n and k are multiples of 8.
    """
    if out is None:
        shape = len(a), len(b)
        out = a.new_empty(shape)
    run = kernel[a.dtype, "Small" if len(a) <= _SMALL else "Large"]
    size = run.hopper_linear_workspace(len(a), len(b), a.shape[-1])
    workspace = a.new_empty(size, dtype=torch.uint8)
    run.hopper_linear(out, a, b, workspace)
    return out
