"""Workspaces of the fused all-reduces: fictl's own, with FlashInfer's names.

The older door passes a workspace as a tensor of pointers: those made here are known by its address.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from typing import Any

import torch

from fictl.comm import Group

from ._all_reduce_workspace import AllReduceWorkspace

__all__ = [
    "AllReduceFusionWorkspace",
    "TRTLLMAllReduceFusionWorkspace",
    "create_allreduce_fusion_workspace",
]

_log = logging.getLogger(__name__)
_BACKENDS = ("auto", "trtllm", "mnnvl")


class AllReduceFusionWorkspace(ABC):
    """Memory that allreduce_fusion needs on each rank besides its tensors."""

    def __init__(self, world_size: int, rank: int) -> None:
        self.world_size, self.rank = world_size, rank

    @property
    @abstractmethod
    def backend(self) -> str:
        """Return the name of the backend."""

    @abstractmethod
    def is_buffer_size_sufficient(
        self,
        tp_size: int,
        num_tokens: int,
        hidden_dim: int,
        dtype: torch.dtype,
        use_oneshot: Any | None = None,
    ) -> bool:
        """Return whether such an input has room."""

    @abstractmethod
    def destroy(self) -> None:
        """Free the memory, on all ranks together."""


class TRTLLMAllReduceFusionWorkspace(AllReduceFusionWorkspace):
    """An AllReduceWorkspace, for inputs of up to max_token_num * hidden_dim elements of `dtype`."""

    def __init__(
        self,
        tp_size: int,
        tp_rank: int,
        max_token_num: int,
        hidden_dim: int,
        dtype: torch.dtype = torch.float16,
        comm_backend: Any | None = None,
        group: Any | None = None,
    ) -> None:
        super().__init__(tp_size, tp_rank)
        nbytes = max_token_num * hidden_dim * dtype.itemsize
        self.reducing = AllReduceWorkspace(group_of(tp_rank, tp_size, group, comm_backend), nbytes)
        self.metadata = {
            "tp_rank": tp_rank,
            "tp_size": tp_size,
            "max_token_num": max_token_num,
            "hidden_dim": hidden_dim,
            "use_fp32_lamport": dtype == torch.float32,
        }

    @property
    def backend(self) -> str:
        return "trtllm"

    def is_buffer_size_sufficient(
        self,
        tp_size: int,
        num_tokens: int,
        hidden_dim: int,
        dtype: torch.dtype,
        use_oneshot: Any | None = None,
    ) -> bool:
        """Return whether such an input has room, whichever way it takes."""
        nbytes = num_tokens * hidden_dim * dtype.itemsize
        return tp_size == self.world_size and nbytes <= self.reducing.bytes

    def checkpoint_prepare(self) -> None:
        """Refuse: memory that is made anew has other addresses, which captured graphs hold."""
        raise NotImplementedError(
            "checkpoint_prepare: the addresses of a workspace over CUDA IPC do not outlive its "
            "memory; destroy() it, make another one afterwards, and capture graphs again"
        )

    def checkpoint_restore(self, comm_backend: Any) -> None:
        """Refuse, as checkpoint_prepare does."""
        self.checkpoint_prepare()

    def destroy(self) -> None:
        self.reducing.destroy()


def create_allreduce_fusion_workspace(
    backend: str = "auto",
    world_size: int | None = None,
    rank: int | None = None,
    max_token_num: int | None = None,
    hidden_dim: int | None = None,
    dtype: torch.dtype | None = None,
    gpus_per_node: int | None = None,
    comm_backend: Any | None = None,
    force_oneshot_support: bool = False,
    group: Any | None = None,
) -> AllReduceFusionWorkspace:
    """Make a workspace on all ranks of `group`, or of torch's default group.

    backend: "trtllm" is what there is, over CUDA IPC; "mnnvl" is the same, with a notice, as fictl
        uses no multicast.
    gpus_per_node: all GPUs are of one host.
    force_oneshot_support: there is room for both ways anyway.
    """
    if backend not in _BACKENDS:
        raise RuntimeError(f"backend is {backend!r}; accepted: {', '.join(_BACKENDS)}")
    if max_token_num is None or hidden_dim is None:
        raise ValueError("create_allreduce_fusion_workspace needs max_token_num and hidden_dim")
    if backend == "mnnvl":
        _log.warning("backend 'mnnvl' is 'trtllm' here: fictl exchanges over CUDA IPC alone")
    if world_size is None or rank is None:
        group = Group.of(comm_backend if group is None and comm_backend is not None else group)
        world_size, rank = group.size, group.rank
    return TRTLLMAllReduceFusionWorkspace(
        tp_size=world_size,
        tp_rank=rank,
        max_token_num=max_token_num,
        hidden_dim=hidden_dim,
        dtype=dtype or torch.float16,
        comm_backend=comm_backend,
        group=group,
    )


def group_of(rank: int, size: int, group: Any, comm_backend: Any) -> Group:
    """Return the group that `rank` of `size` ranks names; raise in words if it is another one.

    A workspace over the default group, where the ranks are a part of it, would wait for ever.
    """
    if group is None and comm_backend is None and size == 1:
        return Group.local(1)[0]
    named = Group.of(comm_backend if group is None and comm_backend is not None else group)
    if (named.rank, named.size) != (rank, size):
        raise ValueError(
            f"this process is {named}, not rank {rank} of {size}; pass group= with the process "
            "group of these ranks"
        )
    return named
