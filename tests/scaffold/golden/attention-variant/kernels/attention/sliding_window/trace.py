"""Trace of sliding_window."""

from __future__ import annotations

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _seen(q: torch.Tensor, k: torch.Tensor, window: int, causal: bool) -> torch.Tensor:
    """Return the mask of the keys that each query sees."""
    q_len, kv_len = len(q), len(k)
    q_idx = torch.arange(q_len, device=q.device)[:, None]
    kv_idx = torch.arange(kv_len, device=q.device)
    seen = abs(q_idx - kv_idx) <= window
    return seen & (kv_idx <= kv_len - q_len + q_idx) if causal else seen


def _reference(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, window: int, causal: bool
) -> torch.Tensor:
    k_of_q, v_of_q = (x.repeat_interleave(q.shape[1] // x.shape[1], dim=1) for x in (k, v))
    logit = torch.einsum("qhd,khd->hqk", q, k_of_q) * q.shape[2] ** -0.5
    seen = _seen(q, k, window, causal)
    weights = logit.masked_fill(~seen, -torch.inf).softmax(dim=-1)
    return torch.einsum("hqk,khd->qhd", torch.where(seen, weights, 0), v_of_q)


sliding_window = TraceTemplate(
    axes={
        "q_len": Var("queries, the last of the keys"),
        "kv_len": Var("keys"),
        "heads": Const("heads of queries", "h"),
        "kv_heads": Const("heads of keys and values", "kv"),
        "head_dim": Const("elements of a head", "d"),
    },
    inputs={
        "q": Tensor(("q_len", "heads", "head_dim")),
        "k": Tensor(("kv_len", "kv_heads", "head_dim"), dtype_from="q"),
        "v": Tensor(("kv_len", "kv_heads", "head_dim"), dtype_from="q"),
        "window": Scalar("int32", 64),
        "causal": Scalar("bool", False),
    },
    outputs={"out": Tensor(("q_len", "heads", "head_dim"), dtype_from="q")},
    reference=_reference,
    description="Attention to keys where abs(q_idx - kv_idx) <= window.",
    constraints=("heads % kv_heads == 0", "kv_heads >= 1"),
    # Weights are rounded to the dtype of the values, which may cancel each other.
    tolerances={"float16": (5e-3, 3e-3), "bfloat16": (2e-2, 1.6e-2)},
    extremes=("zeros", "small"),
)
