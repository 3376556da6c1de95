"""Trace of min_p: reference, and judge of its draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _weights(probs: torch.Tensor, base: float) -> torch.Tensor:
    return torch.where(probs >= base * probs.amax(dim=-1, keepdim=True), probs, 0)


def _of_draws(weights: torch.Tensor, indices: torch.Tensor | None) -> torch.Tensor:
    """Return a row of weights for each token drawn; those not above 0 are not weights."""
    weights = torch.where(weights > 0, weights, 0)
    return weights if indices is None else weights[indices.long()]


def _reference(
    probs: torch.Tensor, base: float, indices: torch.Tensor | None, seed: int, offset: int
) -> torch.Tensor:
    """Draw one of the possible tokens: the first of exponential clocks with the weights as rates."""
    weights = _of_draws(_weights(probs, base), indices)
    return (weights / torch.empty_like(weights).exponential_()).argmax(dim=-1).to(torch.int32)


def _judge(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    """Accept any token that has a weight; the tests count how often each is drawn."""
    weights = _weights(inputs["probs"].float(), inputs["base"])
    weights = _of_draws(weights, inputs["indices"])
    tokens = results["out"].long()
    inside = (tokens >= 0) & (tokens < weights.shape[-1])
    weight = weights.gather(-1, (tokens * inside)[:, None])[:, 0]
    right = inside & torch.where((weights > 0).any(dim=-1), weight > 0, tokens == 0)
    wrong = tokens[~right].tolist()
    assert not wrong, f"out has {len(wrong)} tokens without a weight, as {wrong[0]}"


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make probabilities, some of them 0; rows in random order."""
    shape = (sizes["rows"], sizes["vocab"])
    logits = 3 * torch.randn(shape, device=device, generator=generator)
    probs = logits.where(logits > 0, -torch.inf).softmax(dim=-1).nan_to_num(nan=0.0)
    most, count = max(shape[0], 1), sizes["draws"]
    indices = torch.randint(most, (count,), device=device, generator=generator)
    return {"probs": probs.to(dtype), "indices": indices.to(torch.int32)}


min_p = TraceTemplate(
    axes={
        "draws": Var("tokens drawn: one of each row, or of each of indices"),
        "rows": Var("changes from call to call"),
        "vocab": Const("fixed by a model"),
    },
    inputs={
        "probs": Tensor(("rows", "vocab")),
        "base": Scalar("float32", 0.1),
        "indices": Tensor(("draws",), dtype="int32", optional=True),
        "seed": Scalar("int64", 42),
        "offset": Scalar("int64", 0),
    },
    outputs={"out": Tensor(("draws",), dtype="int32")},
    reference=_reference,
    judge=_judge,
    init=_init,
    description="A token of every row, drawn by the weights where(probs >= base * max(probs), probs, 0).",
)
