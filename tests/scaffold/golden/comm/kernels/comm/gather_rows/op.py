"""gather_rows: the inputs of all ranks on each of them."""

from __future__ import annotations

import torch

from fictl.comm import Workspace, shared_ranks, shared_workspace
from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def gather_rows(
    x: torch.Tensor, out: torch.Tensor | None = None, workspace: Workspace | None = None
) -> torch.Tensor:
    """Gather the inputs of all ranks, which have one shape, in the order of the ranks.

    x: (rows, cols), contiguous.
    out: (ranks * rows, cols), contiguous. None allocates it.
    workspace: with room for twice the bytes of out. None: that of torch's default group.
    """
    if workspace is None:
        workspace = shared_workspace(2 * shared_ranks() * x.nbytes, x.device)
    else:
        workspace.require("gather_rows", 2 * workspace.size * x.nbytes)
    if out is None:
        out = x.new_empty((workspace.size * x.shape[0], *x.shape[1:]))
    kernel.gather_rows(out, x, workspace.memory, workspace.table, workspace.size)
    return out
