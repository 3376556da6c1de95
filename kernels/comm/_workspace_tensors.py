"""Workspaces as tensors: FlashInfer's functions take what its allocations return."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from fictl.comm import Group, Workspace

# The workspace that a tensor stands for, by its address.
_of_address: weakref.WeakValueDictionary[int, Workspace] = weakref.WeakValueDictionary()


def as_tensor(workspace: Workspace, dtype: torch.dtype) -> torch.Tensor:
    """Return this rank's bytes; they keep the workspace."""
    tensor = workspace.data.view(dtype)
    _of_address[tensor.data_ptr()] = workspace
    holder: Any = tensor
    holder.fictl_workspace = workspace
    return tensor


def as_workspace(
    op: str, value: Any, rank: int | None = None, size: int | None = None
) -> Workspace:
    """Return the workspace that a tensor stands for, or the given one; of this rank and size."""
    workspace = value
    if isinstance(value, torch.Tensor):
        workspace = getattr(value, "fictl_workspace", None) or _of_address.get(value.data_ptr())
    if not isinstance(workspace, Workspace):
        raise TypeError(
            f"{op}: 'workspace' is not memory that ranks share; pass what the function "
            "that allocates it returns, or a fictl.comm.Workspace"
        )
    if rank not in (None, workspace.rank) or size not in (None, workspace.size):
        raise ValueError(
            f"{op}: 'workspace' is of {workspace.group}, the call is of rank {rank} of {size}"
        )
    return workspace


def group_of(mapping_group: list[int] | None, communicator: Any, group: Any = None) -> Group:
    """Return the group of some ranks of the world.

    mapping_group: their ranks; None or all of them: the whole one.
    communicator: an object with mpi4py's names, already of these ranks.
    """
    if communicator is not None:
        return Group.of(communicator)
    import torch.distributed as dist

    if not dist.is_initialized() and (mapping_group is None or len(mapping_group) == 1):
        return Group.local(1)[0]
    if group is not None or mapping_group is None:
        return Group.of(group)
    return Group.among(mapping_group)
