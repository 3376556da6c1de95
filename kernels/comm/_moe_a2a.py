"""Sending tokens to the ranks of their experts, and adding up the replies: FlashInfer's functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from fictl.comm import Workspace

from ._active_ranks import active_bits
from ._alltoall_backend import require_own
from ._workspace_tensors import as_workspace
from .moe_a2a.layout import MOST_PAYLOADS, PURPOSE, Metainfo
from .moe_a2a.op import add_up, clear_places, send

__all__ = ["moe_a2a_combine", "moe_a2a_dispatch", "moe_a2a_sanitize_expert_ids"]


def moe_a2a_dispatch(
    token_selected_experts: torch.Tensor,
    input_payloads: Sequence[torch.Tensor],
    workspace: torch.Tensor | Workspace,
    metainfo: torch.Tensor,
    runtime_max_tokens_per_rank: int,
    ep_rank: int | None = None,
    ep_size: int | None = None,
    top_k: int | None = None,
    num_experts: int = 1,
    enable_pdl: bool | None = None,
    eplb_local_stats: None = None,
    enable_rank_mask: bool = False,
    active_rank_mask: torch.Tensor | None = None,
    *,
    backend: str = "trtllm",
    recv_view_cache: dict[Any, Any] | None = None,
) -> tuple[list[torch.Tensor], int, None]:
    """Send each token's payloads to the ranks that have its experts, once to each.

    Expert e is on rank e // (num_experts / ranks); numbers that are no expert's are left out.
    Returns what came here, views of the workspace of shape (ranks, tokens, ...), with the tokens of
    a rank in their order; where the replies may be written; and None.

    token_selected_experts: (tokens, top_k), int32, contiguous.
    input_payloads: up to 8 tensors (tokens, ...), contiguous, of any dtypes.
    workspace: what MoeAlltoAll allocates, or a fictl.comm.Workspace.
    metainfo: what moe_a2a_initialize() returned for it.
    runtime_max_tokens_per_rank: at least the tokens of any rank; equal on all ranks.
    ep_rank, ep_size, top_k: compared with the workspace and token_selected_experts.
    num_experts: of all ranks, a multiple of their number.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    eplb_local_stats: is refused.
    active_rank_mask: of moe_a2a_active_rank_mask(), with enable_rank_mask: the ranks that take part,
        equal on all of them. The others have failed: tokens for them are dropped, and nothing comes
        from them. A rank that has been left out needs a new workspace, on all ranks.
    backend: "trtllm"; others are refused.
    recv_view_cache: is not needed.
    """
    name = "moe_a2a_dispatch"
    require_own(name, backend)
    _refuse(name, eplb_local_stats=eplb_local_stats)
    room = as_workspace(name, workspace, ep_rank, ep_size)
    active = active_bits(name, active_rank_mask, enable_rank_mask, room.rank, room.size)
    info = _info(name, metainfo, room, runtime_max_tokens_per_rank)
    most = runtime_max_tokens_per_rank
    tokens = token_selected_experts.shape[0]
    if tokens > most:
        raise ValueError(f"{name}: {tokens} tokens, more than runtime_max_tokens_per_rank, {most}")
    if top_k not in (None, token_selected_experts.shape[1]):
        raise ValueError(
            f"{name}: top_k is {top_k}, 'token_selected_experts' has shape "
            f"{tuple(token_selected_experts.shape)}"
        )
    if num_experts < 1 or num_experts % room.size:
        raise ValueError(f"{name}: num_experts is {num_experts}, no multiple of {room.size} ranks")
    rows = _rows(name, input_payloads, tokens)
    begins, end = info.received(rows, most)
    room.require(name, end, PURPOSE)
    places, experts = [*begins, end], token_selected_experts
    send(experts, input_payloads, room, places, most, num_experts, active, enable_pdl)
    received = [
        room.data[begin : begin + room.size * most * row]
        .view(payload.dtype)
        .view(room.size, most, *payload.shape[1:])
        for begin, row, payload in zip(begins, rows, input_payloads, strict=True)
    ]
    return received, end, None


def moe_a2a_combine(
    payload: torch.Tensor,
    local_num_tokens: int,
    workspace: torch.Tensor | Workspace,
    metainfo: torch.Tensor,
    runtime_max_tokens_per_rank: int,
    ep_rank: int | None = None,
    ep_size: int | None = None,
    top_k: int | None = None,
    combine_payload_offset: int = 0,
    payload_in_workspace: bool = False,
    output_dtype: torch.dtype | None = None,
    output_scales: None = None,
    output_scalar_scale: float = 1.0,
    sf_layout: Any = None,
    output: torch.Tensor | None = None,
    *,
    use_low_precision: bool = False,
    enable_pdl: bool | None = None,
    enable_rank_mask: bool = False,
    active_rank_mask: torch.Tensor | None = None,
    backend: str = "trtllm",
) -> torch.Tensor:
    """Return the sum of the replies to each token of this rank: (tokens, hidden).

    Added in the order of the ranks, rounded once from fp32. Tokens of no expert have zeros.

    payload: (ranks, runtime_max_tokens_per_rank, hidden), contiguous: replies where the tokens came.
    local_num_tokens: tokens that this rank dispatched.
    workspace, metainfo, runtime_max_tokens_per_rank: as the dispatch had them.
    ep_rank, ep_size, top_k: compared with the workspace; top_k is not needed.
    combine_payload_offset: as the dispatch returned it.
    payload_in_workspace: payload is the memory at that offset: it is not copied there.
    output_dtype: that of payload; others are refused.
    output_scales, output_scalar_scale, sf_layout, use_low_precision: of quantized outputs, which
        are refused.
    output: (tokens, hidden), contiguous. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    enable_rank_mask, active_rank_mask: as the dispatch had them; of a rank that has failed since, no
        reply is added.
    backend: "trtllm"; others are refused.
    """
    name = "moe_a2a_combine"
    require_own(name, backend)
    _refuse(name, output_scales=output_scales)
    _refuse(name, use_low_precision=use_low_precision or None)
    if output_dtype not in (None, payload.dtype):
        raise NotImplementedError(
            f"{name}: output_dtype is {output_dtype}; accepted: that of the payload, "
            f"{payload.dtype}"
        )
    most = runtime_max_tokens_per_rank
    room = as_workspace(name, workspace, ep_rank, ep_size)
    active = active_bits(name, active_rank_mask, enable_rank_mask, room.rank, room.size)
    info = _info(name, metainfo, room, most)
    if payload.dim() != 3 or payload.shape[:2] != (room.size, most):
        raise ValueError(
            f"{name}: argument 'payload' has shape {tuple(payload.shape)}; expected "
            f"({room.size}, {most}, hidden)"
        )
    if not 0 <= local_num_tokens <= most:
        raise ValueError(f"{name}: local_num_tokens is {local_num_tokens}; 0 to {most} can be")
    if combine_payload_offset < info.payloads or combine_payload_offset % 16:
        raise ValueError(
            f"{name}: combine_payload_offset is {combine_payload_offset}, which no dispatch returns"
        )
    room.require(name, combine_payload_offset + payload.nbytes, PURPOSE)
    in_place = room.data.data_ptr() + combine_payload_offset
    if payload_in_workspace and payload.data_ptr() != in_place:
        raise ValueError(f"{name}: 'payload' is not the workspace's memory at the offset")
    if output is None:
        output = payload.new_empty((local_num_tokens, payload.shape[2]))
    elif output.shape != (local_num_tokens, payload.shape[2]):
        raise ValueError(
            f"{name}: argument 'output' has shape {tuple(output.shape)}; expected "
            f"({local_num_tokens}, {payload.shape[2]})"
        )
    offset = combine_payload_offset
    add_up(output, payload, room, offset, active, payload_in_workspace, enable_pdl)
    return output


def moe_a2a_sanitize_expert_ids(
    expert_ids: torch.Tensor,
    workspace: torch.Tensor | Workspace,
    metainfo: torch.Tensor,
    ep_rank: int | None = None,
    invalid_expert_id: int = -1,
    enable_pdl: bool | None = None,
    *,
    backend: str = "trtllm",
) -> None:
    """Set the experts of places that no token came to.

    expert_ids: (ranks, runtime_max_tokens_per_rank, top_k), int32: a payload as it was dispatched.
    workspace, metainfo: as the dispatch had them.
    ep_rank: compared with the workspace.
    invalid_expert_id: what they become.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    backend: "trtllm"; others are refused.
    """
    name = "moe_a2a_sanitize_expert_ids"
    require_own(name, backend)
    room = as_workspace(name, workspace, ep_rank)
    most = expert_ids.shape[1] if expert_ids.dim() == 3 else 0
    _info(name, metainfo, room, most)
    if expert_ids.dim() != 3 or expert_ids.shape[0] != room.size:
        raise ValueError(
            f"{name}: argument 'expert_ids' has shape {tuple(expert_ids.shape)}; expected "
            f"({room.size}, tokens, top_k)"
        )
    clear_places(expert_ids, room, invalid_expert_id, enable_pdl)


def _refuse(op: str, **options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise NotImplementedError(f"{op}: {name} is not supported")


def _info(op: str, metainfo: torch.Tensor, workspace: Workspace, most: int) -> Metainfo:
    info = Metainfo.of(op, metainfo)
    if info.ranks != workspace.size:
        raise ValueError(f"{op}: 'metainfo' is of {info.ranks} ranks, not {workspace.size}")
    if not 0 <= most <= info.max_num_tokens:
        raise ValueError(
            f"{op}: {most} tokens a rank; the workspace is for at most {info.max_num_tokens}"
        )
    return info


def _rows(op: str, payloads: Sequence[torch.Tensor], tokens: int) -> list[int]:
    """Return the bytes of a row of each payload."""
    if not 1 <= len(payloads) <= MOST_PAYLOADS:
        raise ValueError(f"{op}: {len(payloads)} payloads; 1 to {MOST_PAYLOADS} can be sent")
    for payload in payloads:
        if payload.dim() < 2 or payload.shape[0] != tokens:
            raise ValueError(
                f"{op}: a payload has shape {tuple(payload.shape)}; expected ({tokens}, ...)"
            )
    return [math.prod(payload.shape[1:]) * payload.element_size() for payload in payloads]
