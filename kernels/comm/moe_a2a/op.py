"""moe_a2a: tokens go to the ranks of their experts, and the sums of the replies come back."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from fictl.comm import Workspace, shared_ranks, shared_workspace
from fictl.op import KernelModule, op

from .layout import MOST_PAYLOADS, PURPOSE, Metainfo, all_ranks, aux_bytes, padded

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def moe_round_trip(
    token_selected_experts: torch.Tensor,
    input: torch.Tensor,
    num_experts: int,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Send each token to the ranks that have its experts, and add up what they send back unchanged.

    That is each token times the number of those ranks: what an exchange costs without its experts.
    The steps are MoeAlltoAll's, in the workspace of torch's default group.

    token_selected_experts: (tokens, top_k), int32, contiguous; numbers that are no expert's count
        for nothing. Expert e is on rank e // (num_experts / ranks).
    input: (tokens, hidden); copied where it is not contiguous; as many tokens on every rank.
    num_experts: of all ranks, a multiple of their number.
    out: like input, contiguous. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    size, most = shared_ranks(), input.shape[0]
    if num_experts < 1 or num_experts % size:
        raise ValueError(
            f"moe_round_trip: num_experts is {num_experts}, no multiple of {size} ranks"
        )
    if out is not None and not out.is_contiguous():
        raise ValueError("moe_round_trip: argument 'out' is not contiguous")
    row = input.shape[1] * input.element_size()
    (begin,), end = Metainfo(size, most).received([row], most)
    needed = aux_bytes(size, most) + 2 * padded(size * input.nbytes)
    room = shared_workspace(needed, input.device, purpose=PURPOSE)
    rows = [input.contiguous()]
    places, everyone = [begin, end], all_ranks(size)
    send(token_selected_experts, rows, room, places, most, num_experts, everyone, enable_pdl)
    received = room.data[begin : begin + size * input.nbytes].view(input.dtype)
    if out is None:
        out = torch.empty(input.shape, dtype=input.dtype, device=input.device)
    add_up(out, received.view(size, *input.shape), room, end, everyone, False, enable_pdl)
    return out


def send(
    token_selected_experts: torch.Tensor,
    payloads: Sequence[torch.Tensor],
    workspace: Workspace,
    begins: Sequence[int],
    most: int,
    num_experts: int,
    active: int,
    enable_pdl: bool | None,
) -> None:
    """Send each token's payloads to the ranks of its experts, where each payload has its place.

    begins: of each payload's place, and the end of the last.
    active: bits of the ranks that take part.
    """
    kernel.moe_a2a_dispatch(
        token_selected_experts,
        workspace.memory,
        *payloads,
        *[None] * (MOST_PAYLOADS - len(payloads)),
        workspace.table,
        begins,
        most,
        num_experts,
        active,
        enable_pdl is None or enable_pdl,
    )


def add_up(
    out: torch.Tensor,
    payload: torch.Tensor,
    workspace: Workspace,
    replies: int,
    active: int,
    is_in_place: bool,
    enable_pdl: bool | None,
) -> None:
    """Add up the replies to each token, which are copied to their place first unless they are there."""
    kernel.moe_a2a_combine(
        out,
        payload,
        workspace.memory,
        workspace.table,
        payload.shape[1],
        replies,
        active,
        is_in_place,
        enable_pdl is None or enable_pdl,
    )


def clear_places(
    expert_ids: torch.Tensor, workspace: Workspace, invalid: int, enable_pdl: bool | None
) -> None:
    """Set the experts of places that no token came to."""
    kernel.moe_a2a_sanitize_expert_ids(
        expert_ids,
        workspace.memory,
        workspace.table,
        invalid,
        enable_pdl is None or enable_pdl,
    )
