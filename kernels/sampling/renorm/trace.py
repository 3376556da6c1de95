"""Traces of the filters of probabilities and logits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var

# What rounding of a sum may change: which of the tokens at the border is kept.
_ROOM = 1e-5


def _top_p_renorm(probs: torch.Tensor, top_p: float, is_deterministic: bool) -> torch.Tensor:
    values, order = probs.sort(-1, descending=True)
    # Of equals, what is before the first of them.
    first = torch.searchsorted(-values, -values, side="left")
    above = (values.cumsum(-1) - values).gather(-1, first)
    kept = (above < top_p) | (first == 0) | (top_p >= 1)
    weights = torch.where(torch.zeros_like(kept).scatter(-1, order, kept), probs, 0.0)
    whole = weights.sum(-1, keepdim=True)
    return torch.where(whole > 0, weights / whole, 0.0)


def _top_k_renorm(probs: torch.Tensor, top_k: int, is_deterministic: bool) -> torch.Tensor:
    limit = min(top_k, probs.shape[-1]) if top_k > 0 else probs.shape[-1]
    weights = torch.where(probs >= probs.topk(limit, -1).values[..., -1:], probs, 0.0)
    whole = weights.sum(-1, keepdim=True)
    return torch.where(whole > 0, weights / whole, 0.0)


def _top_k_mask(logits: torch.Tensor, top_k: int) -> torch.Tensor:
    logits = torch.where(logits.isnan(), -torch.inf, logits)
    limit = min(top_k, logits.shape[-1]) if top_k > 0 else logits.shape[-1]
    return torch.where(logits >= logits.topk(limit, -1).values[..., -1:], logits, -torch.inf)


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make rows from flat to peaked that add up to 1."""
    rows, vocab = sizes["rows"], sizes["vocab"]
    logits = torch.randn((rows, vocab), device=device, generator=generator)
    sharpness = torch.arange(rows, device=device) % 4 + 1
    return {"probs": torch.softmax(logits * sharpness[:, None], -1).to(dtype)}


def _judge_top_p(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    """Check that the largest are kept, that they add up to top_p, and keep their proportions."""
    probs, p, out = inputs["probs"].double(), inputs["top_p"], results["out"].double()
    kept = out > 0
    least = torch.where(kept, probs, torch.inf).amin(-1, keepdim=True)
    assert bool((kept == (probs >= least)).logical_or(probs <= 0).all()), (
        "out: a larger is left out"
    )
    above = torch.where(probs > least, probs, 0.0).sum(-1)
    assert bool((above < p + _ROOM).all()), f"out: {above.max():.9g} is above what is kept, of {p}"
    weights = torch.where(kept, probs, 0.0)
    whole = weights.sum(-1, keepdim=True)
    enough = (whole[:, 0] >= torch.clamp(probs.sum(-1), max=p) - _ROOM).all()
    assert bool(enough), f"out: {whole.min():.9g} is kept, of {p}"
    torch.testing.assert_close(
        out, torch.where(whole > 0, weights / whole, 0.0), rtol=1e-5, atol=1e-9
    )


_AXES: dict[str, Var | Const] = {"rows": Var("requests"), "vocab": Const("tokens", "v")}
_ROWS = ("rows", "vocab")
_TOP_K = Scalar("int32", 40, "how many are kept")
_LOOKED_AT_NO_MORE = Scalar("bool", False, "looked at no more")

top_p_renorm_probs = TraceTemplate(
    axes=_AXES,
    inputs={
        "probs": Tensor(_ROWS, doc="of every token"),
        "top_p": Scalar("float32", 0.9, "what those that are kept add up to"),
        "is_deterministic": _LOOKED_AT_NO_MORE,
    },
    outputs={"out": Tensor(_ROWS, dtype="float32")},
    reference=_top_p_renorm,
    judge=_judge_top_p,
    constraints=("vocab >= 1",),
    init=_init,
    description="Keep the most likely tokens that add up to top_p, and make their sum 1.",
)

top_k_renorm_probs = TraceTemplate(
    axes=_AXES,
    inputs={
        "probs": Tensor(_ROWS, doc="of every token"),
        "top_k": _TOP_K,
        "is_deterministic": _LOOKED_AT_NO_MORE,
    },
    outputs={"out": Tensor(_ROWS, dtype_from="probs")},
    reference=_top_k_renorm,
    constraints=("vocab >= 1",),
    init=_init,
    description="Keep the top_k most likely tokens, and make their sum 1.",
)

top_k_mask_logits = TraceTemplate(
    axes=_AXES,
    inputs={"logits": Tensor(_ROWS, doc="of every token"), "top_k": _TOP_K},
    outputs={"out": Tensor(_ROWS, dtype_from="logits")},
    reference=_top_k_mask,
    constraints=("vocab >= 1",),
    extremes=("zeros", "small", "large", "nonfinite"),
    description="Keep the top_k largest logits, and make the others -inf.",
)
