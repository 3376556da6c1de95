"""all_gather: the inputs of all ranks on each of them."""

from __future__ import annotations

import torch

from fictl.comm import Workspace, shared_ranks, shared_workspace
from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32 e4m3 e5m2 u8 i32 i64", devices="cuda emu", mutates="out")
def all_gather(
    input: torch.Tensor,
    out: torch.Tensor | None = None,
    workspace: Workspace | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Gather the inputs of all ranks, which have one shape, in the order of the ranks.

    input: contiguous.
    out: (ranks * input.shape[0], ...), contiguous. None allocates it.
    workspace: with room for twice the bytes of out. None: that of torch's default group.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if workspace is None:
        workspace = shared_workspace(2 * shared_ranks() * input.nbytes, input.device)
    else:
        workspace.require("all_gather", 2 * workspace.size * input.nbytes)
    if out is None:
        out = input.new_empty((workspace.size * input.shape[0], *input.shape[1:]))
    kernel.all_gather(
        out,
        input,
        workspace.memory,
        workspace.table,
        workspace.size,
        enable_pdl is None or enable_pdl,
    )
    return out
