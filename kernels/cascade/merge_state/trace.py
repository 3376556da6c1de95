"""Traces of merge_state, merge_state_in_place and merge_states."""

from __future__ import annotations

import torch

from fictl.trace import Const, Tensor, TraceTemplate, Var


def _merged(v: torch.Tensor, s: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Merge the states along `dim`; a state of no keys has s = -inf and any v."""
    most = s.amax(dim, keepdim=True).clamp(min=torch.finfo(s.dtype).min)
    weights = torch.exp2(s - most)
    total = weights.sum(dim)
    shares = torch.where(total.unsqueeze(dim) == 0, weights, weights / total.unsqueeze(dim))
    weighted = torch.where(shares.unsqueeze(-1) == 0, 0.0, shares.unsqueeze(-1) * v)
    return weighted.sum(dim), torch.log2(total) + most.squeeze(dim)


def _merge_state(
    v_a: torch.Tensor, s_a: torch.Tensor, v_b: torch.Tensor, s_b: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    return _merged(torch.stack((v_a, v_b)), torch.stack((s_a, s_b)), 0)


def _merge_state_in_place(
    v: torch.Tensor,
    s: torch.Tensor,
    v_other: torch.Tensor,
    s_other: torch.Tensor,
    mask: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    v_merged, s_merged = _merge_state(v, s, v_other, s_other)
    if mask is None:
        return v_merged, s_merged
    keep = mask == 0
    return (
        torch.where(keep[:, None, None], v, v_merged),
        torch.where(keep[:, None], s, s_merged),
    )


def _merge_states(v: torch.Tensor, s: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return _merged(v, s, 1)


_AXES: dict[str, Var | Const] = {
    "positions": Var("queries"),
    "heads": Const("heads of a query", "h"),
    "head_dim": Const("values a head", "d"),
}
_ROWS, _HEADS = ("positions", "heads", "head_dim"), ("positions", "heads")
_LSE = "log2 of the sum of the exponentials"

merge_state = TraceTemplate(
    axes=_AXES,
    inputs={
        "v_a": Tensor(_ROWS, doc="attention over a part of the keys"),
        "s_a": Tensor(_HEADS, dtype="float32", doc=_LSE),
        "v_b": Tensor(_ROWS, dtype_from="v_a", doc="attention over another part"),
        "s_b": Tensor(_HEADS, dtype="float32", doc=_LSE),
    },
    outputs={
        "v_merged": Tensor(_ROWS, dtype_from="v_a"),
        "s_merged": Tensor(_HEADS, dtype="float32"),
    },
    reference=_merge_state,
    extremes=("zeros", "small", "large", "nonfinite"),
    description="Merge attention over two parts of the keys into attention over both.",
)

merge_state_in_place = TraceTemplate(
    axes=_AXES,
    inputs={
        "v": Tensor(_ROWS, doc="attention over a part of the keys"),
        "s": Tensor(_HEADS, dtype="float32", doc=_LSE),
        "v_other": Tensor(_ROWS, dtype_from="v", doc="attention over another part"),
        "s_other": Tensor(_HEADS, dtype="float32", doc=_LSE),
        "mask": Tensor(("positions",), dtype="bool", optional=True, doc="which positions change"),
    },
    outputs={"v": Tensor(_ROWS, dtype_from="v"), "s": Tensor(_HEADS, dtype="float32")},
    reference=_merge_state_in_place,
    extremes=("zeros", "small", "large", "nonfinite"),
    description="Merge attention over another part of the keys into that which is there.",
)

merge_states = TraceTemplate(
    axes={
        "positions": Var("queries"),
        "states": Var("parts of the keys"),
        "heads": Const("heads of a query", "h"),
        "head_dim": Const("values a head", "d"),
    },
    inputs={
        "v": Tensor(("positions", "states", "heads", "head_dim"), doc="attention over each part"),
        "s": Tensor(("positions", "states", "heads"), dtype="float32", doc=_LSE),
    },
    outputs={
        "v_merged": Tensor(_ROWS, dtype_from="v"),
        "s_merged": Tensor(_HEADS, dtype="float32"),
    },
    reference=_merge_states,
    constraints=("states >= 1",),
    extremes=("zeros", "small", "large", "nonfinite"),
    description="Merge attention over any number of parts of the keys into attention over all.",
)
