"""Traces of sampling from logits: references, and judges of which tokens may be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _sampling_from_logits(
    logits: torch.Tensor,
    indices: torch.Tensor | None,
    deterministic: bool,
    check_nan: bool,
    seed: torch.Tensor,
    offset: torch.Tensor,
) -> torch.Tensor:
    """Draw from the same distribution, by other random numbers."""
    rows = logits if indices is None else logits[indices.long()]
    generator = torch.Generator(rows.device).manual_seed(int(seed + offset))
    drawn = torch.multinomial(torch.softmax(rows, dim=-1), 1, generator=generator)
    return drawn[:, 0].int()


def _top_k_top_p_sampling_from_logits(
    logits: torch.Tensor,
    top_k: int,
    top_p: float,
    indices: torch.Tensor | None,
    deterministic: bool,
    check_nan: bool,
    seed: torch.Tensor,
    offset: torch.Tensor,
) -> torch.Tensor:
    """Draw from the same distribution, by other random numbers."""
    rows = logits if indices is None else logits[indices.long()]
    generator = torch.Generator(rows.device).manual_seed(int(seed + offset))
    least = rows.topk(min(top_k, rows.shape[-1])).values[:, -1:]
    kept = torch.softmax(rows.where(rows >= least, -torch.inf), dim=-1)
    probs, tokens = kept.sort(descending=True, stable=True)
    probs[probs.cumsum(dim=-1) - probs >= top_p] = 0.0
    drawn = torch.multinomial(probs, 1, generator=generator)
    return tokens.gather(1, drawn)[:, 0].int()


def _probabilities(
    inputs: Mapping[str, Any], tokens: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the probabilities of all tokens and of those drawn; check that these are in range."""
    logits, indices = inputs["logits"], inputs["indices"]
    rows = logits if indices is None else logits[indices.long()]
    assert tokens.shape == rows.shape[:1], f"out has shape {tuple(tokens.shape)}"
    strange = (tokens < 0) | (tokens >= rows.shape[-1])
    assert not bool(strange.any()), f"out has {tokens[strange].tolist()}, which are no tokens"
    probs = torch.softmax(rows.double(), dim=-1)
    return probs, probs.gather(1, tokens[:, None].long())


def _may_be_drawn(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    _, drawn = _probabilities(inputs, results["out"])
    assert bool((drawn > 0).all()), f"out has tokens of the probabilities {drawn.min()} and more"


def _are_the_likeliest(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    """Check that each token is among top_k, and the likelier ones add up to less than top_p."""
    rounding = 1e-5
    probs, drawn = _probabilities(inputs, results["out"])
    likelier = (probs > drawn * (1 + rounding)).sum(dim=-1)
    assert bool((likelier < inputs["top_k"]).all()), f"out is after {likelier.max()} likelier ones"
    kept = min(inputs["top_k"], probs.shape[-1])
    least = probs.topk(kept).values[:, -1:]
    probs = probs.where(probs >= least * (1 - rounding), 0.0)
    mass = probs.where(probs > drawn * (1 + rounding), 0.0).sum(dim=-1) / probs.sum(dim=-1)
    assert bool((mass < inputs["top_p"] + rounding).all()), f"out is after a mass of {mass.max()}"


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make a seed of 63 bits, an offset as engines count them up, and rows in random order."""

    def numbers(most: int, count: int) -> torch.Tensor:
        return torch.randint(most, (count,), device=device, generator=generator)

    return {
        "seed": numbers(2**62, 1),
        "offset": 4 * numbers(1000, 1),
        "indices": numbers(max(sizes["rows"], 1), sizes["rows"]).int(),
    }


_AXES: dict[str, Const | Var] = {
    "rows": Var("requests"),
    "vocab": Const("tokens", "v"),
    "one": Const("one number", value=1),
}
_LOGITS: dict[str, Tensor | Scalar] = {"logits": Tensor(("rows", "vocab"))}
_FILTERS: dict[str, Tensor | Scalar] = {
    "top_k": Scalar("int32", 50, "how many tokens are kept"),
    "top_p": Scalar("float32", 0.9, "what part of their probabilities is kept of these"),
}
_DRAWS: dict[str, Tensor | Scalar] = {
    "indices": Tensor(("rows",), dtype="int32", optional=True, doc="the row of each token"),
    "deterministic": Scalar("bool", True, "looked at no more"),
    "check_nan": Scalar("bool", False, "whether NaN is refused"),
    "seed": Tensor(("one",), dtype="int64", doc="of the random numbers"),
    "offset": Tensor(("one",), dtype="int64", doc="how many of them were drawn before"),
}
_OUT = {"out": Tensor(("rows",), dtype="int32")}

sampling_from_logits = TraceTemplate(
    axes=_AXES,
    inputs={**_LOGITS, **_DRAWS},
    outputs=_OUT,
    reference=_sampling_from_logits,
    judge=_may_be_drawn,
    constraints=("vocab >= 1",),
    init=_init,
    description="Draw a token from the softmax of every row of logits.",
)
top_k_top_p_sampling_from_logits = TraceTemplate(
    axes=_AXES,
    inputs={**_LOGITS, **_FILTERS, **_DRAWS},
    outputs=_OUT,
    reference=_top_k_top_p_sampling_from_logits,
    judge=_are_the_likeliest,
    constraints=("vocab >= 1",),
    init=_init,
    description="Draw a token from the likeliest of every row of logits.",
)
