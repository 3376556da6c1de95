"""MoeAlltoAll: the exchange of tokens among ranks of expert parallelism, with its workspace."""

from __future__ import annotations

from typing import Any

import torch

from fictl.comm import Workspace

from ._alltoall_backend import require_own
from ._moe_a2a import moe_a2a_combine, moe_a2a_dispatch, moe_a2a_sanitize_expert_ids
from ._workspace_tensors import as_tensor, as_workspace, group_of
from .moe_a2a.layout import PURPOSE, Metainfo, aux_bytes, padded

__all__ = [
    "MoeAlltoAll",
    "moe_a2a_get_workspace_size_per_rank",
    "moe_a2a_initialize",
    "moe_a2a_wrap_payload_tensor_in_workspace",
]


def moe_a2a_get_workspace_size_per_rank(
    ep_size: int,
    max_num_tokens: int,
    total_dispatch_payload_size_per_token: int,
    combine_payload_size_per_token: int,
    eplb_stats_num_experts: int = 0,
    *,
    backend: str = "trtllm",
) -> int:
    """Return the bytes that each rank needs for payloads of so many bytes a token."""
    require_own("moe_a2a_get_workspace_size_per_rank", backend)
    _refuse_stats(eplb_stats_num_experts)
    rows = ep_size * max_num_tokens
    return (
        aux_bytes(ep_size, max_num_tokens)
        + padded(rows * total_dispatch_payload_size_per_token)
        + padded(rows * combine_payload_size_per_token)
    )


def moe_a2a_initialize(
    workspace: torch.Tensor | Workspace,
    ep_rank: int,
    ep_size: int,
    max_num_tokens: int,
    eplb_stats_num_experts: int = 0,
    *,
    backend: str = "trtllm",
) -> torch.Tensor:
    """Return the sizes that later calls with this workspace need, as a tensor."""
    require_own("moe_a2a_initialize", backend)
    _refuse_stats(eplb_stats_num_experts)
    room = as_workspace("moe_a2a_initialize", workspace, ep_rank, ep_size)
    room.require("moe_a2a_initialize", aux_bytes(ep_size, max_num_tokens), PURPOSE)
    return Metainfo(ep_size, max_num_tokens).tensor()


def moe_a2a_wrap_payload_tensor_in_workspace(
    workspace: torch.Tensor,
    leading_shape: list[int],
    slice_start: int,
    slice_end: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    """View bytes of this rank's workspace as a tensor of shape (*leading_shape, -1)."""
    memory = workspace.reshape(-1).view(torch.uint8)
    if not 0 <= slice_start <= slice_end <= memory.numel():
        raise ValueError(
            f"moe_a2a_wrap_payload_tensor_in_workspace: bytes {slice_start} to {slice_end} of a "
            f"workspace of {memory.numel()}"
        )
    return memory[slice_start:slice_end].view(dtype).view(*leading_shape, -1)


class MoeAlltoAll:
    """Sends tokens to the ranks of their experts, and adds up what comes back.

    mapping: has moe_ep_rank, moe_ep_size and moe_ep_group.
    max_num_tokens: most tokens of any rank in one call.
    top_k: experts of a token.
    num_experts: of all ranks.
    workspace_size_per_rank: bytes. None: for 16-bit hidden states, experts and scales of a token.
    hidden_size: needed where the bytes are not given.
    mnnvl_config: its comm_backend, if it has one, is what the ranks of the group meet with.
    eplb_stats_num_experts: is refused.
    enable_rank_mask: calls have an active_rank_mask, the ranks that take part: see moe_a2a_dispatch.
    backend: "trtllm"; others are refused.
    """

    def __init__(
        self,
        mapping: Any,
        max_num_tokens: int,
        top_k: int,
        num_experts: int,
        workspace_size_per_rank: int | None = None,
        hidden_size: int | None = None,
        mnnvl_config: Any = None,
        eplb_stats_num_experts: int = 0,
        enable_rank_mask: bool = False,
        *,
        backend: str = "trtllm",
    ) -> None:
        require_own("MoeAlltoAll", backend)
        if top_k < 1 or num_experts < 1:
            raise ValueError(f"MoeAlltoAll: top_k {top_k} and num_experts {num_experts} are >= 1")
        if workspace_size_per_rank is None:
            if hidden_size is None:
                raise ValueError("MoeAlltoAll: give hidden_size, or workspace_size_per_rank")
            workspace_size_per_rank = self.get_moe_workspace_size_per_rank(
                mapping.moe_ep_size,
                top_k,
                max_num_tokens,
                hidden_size,
                eplb_stats_num_experts=eplb_stats_num_experts,
            )
        self.ep_rank, self.ep_size = mapping.moe_ep_rank, mapping.moe_ep_size
        self.max_num_tokens, self.top_k, self.num_experts = max_num_tokens, top_k, num_experts
        self.workspace_size_per_rank = workspace_size_per_rank
        self.enable_rank_mask = enable_rank_mask
        communicator = getattr(mnnvl_config, "comm_backend", None)
        group = group_of(list(mapping.moe_ep_group), communicator)
        self._room = Workspace(group, workspace_size_per_rank, purpose=PURPOSE)
        self.workspace = as_tensor(self._room, torch.uint8)
        self.metainfo = moe_a2a_initialize(
            self._room, self.ep_rank, self.ep_size, max_num_tokens, eplb_stats_num_experts
        )
        # Tokens and offset of the dispatch that no combine has ended.
        self._dispatched: tuple[int, int] | None = None

    @staticmethod
    def get_moe_workspace_size_per_rank(
        ep_size: int,
        top_k: int,
        max_num_tokens: int,
        hidden_size: int,
        extra_payload_bytes_per_token: int = 0,
        eplb_stats_num_experts: int = 0,
        *,
        backend: str = "trtllm",
    ) -> int:
        """Return the bytes for 16-bit hidden states, and experts and scales of a token."""
        require_own("MoeAlltoAll", backend)
        hidden = 2 * hidden_size
        dispatched = hidden + 8 * top_k + extra_payload_bytes_per_token
        return moe_a2a_get_workspace_size_per_rank(
            ep_size, max_num_tokens, dispatched, hidden, eplb_stats_num_experts
        )

    def dispatch(
        self,
        token_selected_experts: torch.Tensor,
        input_payloads: list[torch.Tensor],
        runtime_max_tokens_per_rank: int,
        invalid_token_expert_id: int | None = None,
        expert_id_payload_index: int | None = None,
        eplb_local_stats: None = None,
        active_rank_mask: torch.Tensor | None = None,
        enable_pdl: bool | None = None,
    ) -> list[torch.Tensor]:
        """Return what came to this rank, views of shape (ranks, tokens, ...): see moe_a2a_dispatch.

        invalid_token_expert_id: what the experts of places without a token become, in the payload
            that expert_id_payload_index counts.
        """
        if self._dispatched is not None:
            raise RuntimeError("MoeAlltoAll: dispatch() was called twice without combine()")
        if invalid_token_expert_id is not None and expert_id_payload_index is None:
            raise ValueError(
                "MoeAlltoAll: invalid_token_expert_id needs expert_id_payload_index, too"
            )
        received, offset, _ = moe_a2a_dispatch(
            token_selected_experts,
            input_payloads,
            self._room,
            self.metainfo,
            runtime_max_tokens_per_rank,
            self.ep_rank,
            self.ep_size,
            self.top_k,
            self.num_experts,
            enable_pdl,
            eplb_local_stats,
            self.enable_rank_mask,
            active_rank_mask,
        )
        self._dispatched = token_selected_experts.shape[0], offset
        if invalid_token_expert_id is not None and expert_id_payload_index is not None:
            moe_a2a_sanitize_expert_ids(
                received[expert_id_payload_index],
                self._room,
                self.metainfo,
                self.ep_rank,
                invalid_token_expert_id,
                enable_pdl,
            )
        return received

    def combine(
        self,
        payload: torch.Tensor,
        runtime_max_tokens_per_rank: int,
        payload_in_workspace: bool = False,
        output_dtype: torch.dtype | None = None,
        output_scales: None = None,
        output_scalar_scale: float = 1.0,
        sf_layout: Any = None,
        output: torch.Tensor | None = None,
        *,
        use_low_precision: bool = False,
        active_rank_mask: torch.Tensor | None = None,
        enable_pdl: bool | None = None,
    ) -> torch.Tensor:
        """Return the sum of the replies to each token: see moe_a2a_combine."""
        tokens, offset = self._open("combine")
        combined = moe_a2a_combine(
            payload,
            tokens,
            self._room,
            self.metainfo,
            runtime_max_tokens_per_rank,
            self.ep_rank,
            self.ep_size,
            self.top_k,
            offset,
            payload_in_workspace,
            output_dtype,
            output_scales,
            output_scalar_scale,
            sf_layout,
            output,
            use_low_precision=use_low_precision,
            enable_pdl=enable_pdl,
            enable_rank_mask=self.enable_rank_mask,
            active_rank_mask=active_rank_mask,
        )
        self._dispatched = None
        return combined

    def get_combine_payload_tensor_in_workspace(
        self, runtime_max_tokens_per_rank: int, hidden_size: int, dtype: torch.dtype
    ) -> torch.Tensor:
        """Return memory for the replies, between dispatch() and combine(): nothing is copied."""
        _, offset = self._open("get_combine_payload_tensor_in_workspace")
        shape = [self.ep_size, runtime_max_tokens_per_rank]
        end = offset + shape[0] * shape[1] * hidden_size * dtype.itemsize
        return moe_a2a_wrap_payload_tensor_in_workspace(self.workspace, shape, offset, end, dtype)

    def destroy(self) -> None:
        """Free the workspace, on all ranks together."""
        self._room.destroy()

    def _open(self, name: str) -> tuple[int, int]:
        if self._dispatched is None:
            raise RuntimeError(f"MoeAlltoAll: {name}() was called without dispatch()")
        return self._dispatched


def _refuse_stats(experts: int) -> None:
    if experts:
        raise NotImplementedError("moe_a2a: statistics of experts are not gathered")
