"""Workspaces that users lend to attention, and the partial results in them."""

from __future__ import annotations

import torch

_ALIGNMENT = 16


def check_workspace(op: str, name: str, workspace: torch.Tensor) -> torch.Tensor:
    """Check a workspace, and view it as bytes."""
    if not isinstance(workspace, torch.Tensor):
        raise TypeError(
            f"{op}: argument '{name}' is a {type(workspace).__name__}; pass a tensor of uint8"
        )
    if not workspace.is_contiguous():
        raise ValueError(
            f"{op}: argument '{name}' is not contiguous: shape {tuple(workspace.shape)}, strides "
            f"{workspace.stride()}"
        )
    beyond = workspace.data_ptr() % _ALIGNMENT if workspace.numel() else 0
    if beyond:
        raise ValueError(
            f"{op}: argument '{name}' begins {beyond} bytes beyond a multiple of {_ALIGNMENT}; "
            "pass memory as torch.empty gives it"
        )
    return workspace.detach().view(-1).view(torch.uint8)


def integers(workspace: torch.Tensor) -> torch.Tensor:
    """View bytes as int32."""
    return workspace[: len(workspace) // 4 * 4].view(torch.int32)


def partial_bytes(rows: int, kv_heads: int, head_dim_v: int) -> int:
    """Count the bytes of partial rows: a result and a sum for each head of keys."""
    return 4 * rows * kv_heads * (head_dim_v + 1)


class Scratch:
    """Memory that grows, for the partial results of plans whose runs follow each other."""

    def __init__(self, device: torch.device) -> None:
        self._memory = torch.empty(0, dtype=torch.uint8, device=device)

    def at_least(self, size: int) -> torch.Tensor:
        """Return this many bytes or more. Who has smaller ones from before keeps them."""
        if size > len(self._memory):
            self._memory = torch.empty(
                size + size // 4, dtype=torch.uint8, device=self._memory.device
            )
        return self._memory


class Partials:
    """Memory for the partial results of a plan: the user's workspace, or what grows."""

    def __init__(self, workspace: torch.Tensor | None, scratch: Scratch) -> None:
        self.workspace = workspace
        self._scratch = scratch
        self.out: torch.Tensor | None = None
        self.lse: torch.Tensor | None = None

    def fit(self, op: str, rows: int, kv_heads: int, head_dim_v: int) -> None:
        if not rows:
            self.out = self.lse = None
            return
        needed = partial_bytes(rows, kv_heads, head_dim_v)
        memory = self.workspace
        if memory is None:
            memory = self._scratch.at_least(needed)
        elif needed > len(memory):
            raise ValueError(
                f"{op}: argument 'float_workspace_buffer' has {len(memory)} bytes; the partial "
                f"results of this plan take {needed}: pass a larger one, or plan with "
                "disable_split_kv=True"
            )
        numbers = memory[:needed].view(torch.float32)
        between = rows * kv_heads * head_dim_v
        self.out, self.lse = numbers[:between], numbers[between:]
