"""Trace of moe_round_trip. The reference asks for the number of ranks."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.distributed as dist

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var

_EXPERTS = 64


def _round_trip(
    token_selected_experts: torch.Tensor, input: torch.Tensor, num_experts: int
) -> torch.Tensor:
    size = dist.get_world_size() if dist.is_initialized() else 1
    first = torch.arange(0, num_experts, num_experts // size, device=input.device).view(-1, 1, 1)
    is_there = (token_selected_experts >= first) & (
        token_selected_experts < first + num_experts // size
    )
    return input * is_there.any(-1).sum(0).unsqueeze(-1)


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Choose experts, and now and then none."""
    shape = sizes["tokens"], sizes["top_k"]
    experts = torch.randint(-1, _EXPERTS, shape, device=device, generator=generator)
    return {"token_selected_experts": experts.int()}


moe_round_trip = TraceTemplate(
    axes={
        "tokens": Var("tokens of each rank"),
        "top_k": Const("experts of a token", "k"),
        "hidden": Const("values of a token", "h"),
    },
    inputs={
        "token_selected_experts": Tensor(("tokens", "top_k"), dtype="int32"),
        "input": Tensor(("tokens", "hidden")),
        "num_experts": Scalar("int32", _EXPERTS),
    },
    outputs={"out": Tensor(("tokens", "hidden"), dtype_from="input")},
    reference=_round_trip,
    init=_init,
    op_type="comm",
    description="Tokens to the ranks of their experts, and the sums of what comes back.",
)
