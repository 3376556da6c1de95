"""reduce_scatter: the sum over the ranks, of which each gets its part."""

from __future__ import annotations

import torch

from fictl.comm import Workspace, shared_workspace
from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def reduce_scatter(
    input: torch.Tensor,
    out: torch.Tensor | None = None,
    workspace: Workspace | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Add the inputs of all ranks, and return this rank's part of the sum.

    Added in the order of the ranks, and rounded once from fp32: the same bits on any rank.

    input: (ranks * n, ...), of one shape on all ranks, contiguous; n rows for each rank.
    out: (n, ...), contiguous. None allocates it.
    workspace: with room for twice the bytes of input. None: that of torch's default group.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if workspace is None:
        workspace = shared_workspace(2 * input.nbytes, input.device)
    else:
        workspace.require("reduce_scatter", 2 * input.nbytes)
    if out is None:
        out = input.new_empty((input.shape[0] // workspace.size, *input.shape[1:]))
    kernel.reduce_scatter(
        out,
        input,
        workspace.memory,
        workspace.table,
        workspace.size,
        enable_pdl is None or enable_pdl,
    )
    return out
