"""Workspaces of decode_cp_a2a, as FlashInfer's functions size and allocate them."""

from __future__ import annotations

from typing import Any

import torch

from fictl.comm import Workspace

from ._workspace_tensors import as_tensor, as_workspace, group_of
from .decode_cp_a2a.op import ROOM

__all__ = [
    "decode_cp_a2a_allocate_mnnvl_workspace",
    "decode_cp_a2a_init_workspace",
    "decode_cp_a2a_lse_reduce_create_workspace",
    "decode_cp_a2a_lse_reduce_workspace_size",
    "decode_cp_a2a_workspace_size",
]

_MOST_RANKS = 8
_SLOT_PADDING = 16


def decode_cp_a2a_workspace_size(cp_size: int) -> int:
    """Return the bytes of each rank: larger calls are made in parts."""
    _check_ranks(cp_size)
    return ROOM


def decode_cp_a2a_allocate_mnnvl_workspace(mapping: Any, mnnvl_config: Any = None) -> torch.Tensor:
    """Allocate memory that the ranks of `mapping.cp_group` share: CUDA IPC within a host.

    mapping: has cp_size, cp_rank and cp_group; the whole world where it is of that size.
    mnnvl_config: its comm_backend, if it has one, is what the ranks of the group meet with.
    """
    communicator = getattr(mnnvl_config, "comm_backend", None)
    group = group_of(list(mapping.cp_group), communicator)
    return as_tensor(Workspace(group, decode_cp_a2a_workspace_size(mapping.cp_size)), torch.int64)


def decode_cp_a2a_init_workspace(workspace: torch.Tensor, cp_rank: int, cp_size: int) -> None:
    """Check that the workspace is of this rank: memory is ready when it is allocated."""
    as_workspace("decode_cp_a2a_init_workspace", workspace, cp_rank, cp_size)


def decode_cp_a2a_lse_reduce_workspace_size(
    max_tokens: int, local_heads: int, cp_size: int, head_dim: int, dtype: torch.dtype
) -> int:
    """Return the bytes of each rank with which no call has to be made in parts."""
    if min(max_tokens, local_heads, head_dim) < 1 or head_dim % 8:
        raise ValueError(
            f"max_tokens {max_tokens}, local_heads {local_heads} and head_dim {head_dim} are at "
            "least 1, and head_dim is a multiple of 8"
        )
    if dtype not in (torch.float16, torch.bfloat16):
        raise TypeError(f"dtype is {dtype}; accepted: torch.float16, torch.bfloat16")
    _check_ranks(cp_size)
    return 2 * cp_size * (max_tokens * local_heads * (2 * head_dim + 4) + 2 * _SLOT_PADDING)


def decode_cp_a2a_lse_reduce_create_workspace(
    max_tokens: int,
    local_heads: int,
    cp_size: int,
    head_dim: int,
    dtype: torch.dtype,
    group: Any,
) -> torch.Tensor:
    """Allocate memory that the ranks of a torch process group share."""
    size = decode_cp_a2a_lse_reduce_workspace_size(
        max_tokens, local_heads, cp_size, head_dim, dtype
    )
    return as_tensor(Workspace(group_of(None, None, group), size), torch.uint8)


def _check_ranks(cp_size: int) -> None:
    if not 1 <= cp_size <= _MOST_RANKS:
        raise ValueError(f"cp_size is {cp_size}; ranks of one host are 1 to {_MOST_RANKS}")
