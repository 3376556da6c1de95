"""all_reduce: the sum over the ranks, with the same bits on each of them."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .._all_reduce_workspace import AllReduceWorkspace, default_workspace
from .._crossovers import AllReduceStrategy

kernel = KernelModule(__file__)


@op(archs=">=8.0", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def all_reduce(
    input: torch.Tensor,
    out: torch.Tensor | None = None,
    workspace: AllReduceWorkspace | None = None,
    strategy: str | AllReduceStrategy | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Sum the inputs of all ranks, which have one shape and dtype.

    Added in fp32, in the order of the ranks, and rounded once: the bits are the same on every rank,
    whichever way the sum takes. -0.0 counts as +0.0.

    input: contiguous.
    out: like input; may be input itself. None allocates it.
    workspace: None: that of torch's default group. With captured graphs of several streams, each
        needs one of its own.
    strategy: "lamport", "one-shot", "lamport-two-shot" or "two-shot", the same on all ranks. None:
        the fastest, by bytes and ranks.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    nbytes = input.nbytes
    if workspace is None:
        workspace = default_workspace(nbytes, input.device)
    if out is None:
        out = torch.empty_like(input)
    protocol, two_shot = workspace.strategy("all_reduce", nbytes, strategy)
    shared, sizes = workspace.shared, workspace.sizes
    kernel.all_reduce(
        out,
        input,
        shared.memory,
        shared.table,
        sizes.lamport,
        sizes.flags,
        protocol,
        two_shot,
        enable_pdl is None or enable_pdl,
    )
    return out
