"""Trace of top_k."""

from __future__ import annotations

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _reference(logits: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Sort whole rows. Why not torch.topk: it says nothing on the order of equal elements."""
    # Why one NaN: CUDA's sort puts a NaN with a sign below all.
    one_nan = logits.masked_fill(logits.isnan(), torch.nan)
    first = one_nan.sort(dim=-1, descending=True, stable=True).indices[..., :k]
    return logits.gather(-1, first), first


top_k = TraceTemplate(
    axes={
        "rows": Var("changes from call to call"),
        "vocab": Const("elements of a row"),
        "k": Const("elements that are chosen"),
    },
    inputs={"logits": Tensor(("rows", "vocab")), "k": Scalar("int32", 8)},
    outputs={
        "values": Tensor(("rows", "k"), dtype_from="logits"),
        "indices": Tensor(("rows", "k"), dtype="int32"),
    },
    reference=_reference,
    constraints=("k <= vocab",),
    extremes=("zeros", "small", "large", "nonfinite"),
    description="The k largest elements of each row, the largest first, and their indices.",
)
