"""Distributions of samplers: which tokens each row may draw, and with what probability."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

# Rounding error of sums over a vocabulary in half precision.
_SLACK = 1e-2
_CHUNK = 1 << 24
# Patterns, as the names are written with and without _.
_TOP_K, _TOP_P, _MIN_P = r"top_?k(_arr|_val)?", r"top_?p(_arr|_val)?", r"min_?p(_arr|_val)?"


@dataclass(frozen=True)
class Distribution:
    """Rows sorted by probability: tokens, their `share`, and whether they are `allowed`."""

    token: torch.Tensor
    share: torch.Tensor
    allowed: torch.Tensor

    def of(self, rows: torch.Tensor) -> Distribution:
        return Distribution(self.token[rows], self.share[rows], self.allowed[rows])


def distributions(inputs: Mapping[str, Any]) -> Iterator[tuple[slice, Distribution]]:
    """Yield the distributions of all rows, in parts that fit into memory."""
    rows = _rows(inputs)
    at_once = max(1, _CHUNK // max(rows.shape[1], 1))
    for start in range(0, rows.shape[0], at_once):
        part = slice(start, min(start + at_once, rows.shape[0]))
        yield part, _distribution(_probabilities(rows[part], part, inputs), part, inputs)


def source(names: Mapping[str, Any]) -> str:
    """Name of the input to sample from, or ''."""
    return next((name for name in ("probs", "logits") if name in names), "")


def row_count(inputs: Mapping[str, Any]) -> int:
    return int(_rows(inputs).shape[0])


def vocabulary(inputs: Mapping[str, Any]) -> int:
    return int(inputs[source(inputs)].shape[-1])


def _rows(inputs: Mapping[str, Any]) -> torch.Tensor:
    """One row of probabilities or logits for each sample."""
    tensor: torch.Tensor = inputs[source(inputs)]
    flat = tensor.reshape(-1, tensor.shape[-1])
    chosen = inputs.get("indices")
    return flat if chosen is None else flat[chosen.long()]


def _probabilities(rows: torch.Tensor, part: slice, inputs: Mapping[str, Any]) -> torch.Tensor:
    values = rows.double()
    if source(inputs) == "logits":
        warmth = _parameter(inputs, "temperature", part, values)
        values = (values if warmth is None else values / warmth).softmax(-1)
    return values / values.sum(-1, keepdim=True)


def _distribution(probs: torch.Tensor, part: slice, inputs: Mapping[str, Any]) -> Distribution:
    import torch

    share, token = probs.sort(-1, descending=True)
    allowed = share > 0
    exact = allowed.clone()
    k = _parameter(inputs, _TOP_K, part, probs)
    if k is not None:
        last = torch.where(k > 0, k, share.shape[-1]).clamp(1, share.shape[-1]).long() - 1
        within = share >= share.gather(-1, last.expand(share.shape[0], 1))  # Ties are as good.
        allowed, exact = allowed & within, exact & within
    p = _parameter(inputs, _TOP_P, part, probs)
    if p is not None:
        before = share.cumsum(-1) - share
        allowed, exact = allowed & (before < p + _SLACK), exact & ((before < p) | (before == 0))
    least = _parameter(inputs, _MIN_P, part, probs)
    if least is not None:
        floor = least * share[:, :1]
        allowed, exact = allowed & (share >= floor * (1 - _SLACK)), exact & (share >= floor)
    kept = torch.where(exact, share, 0.0)
    return Distribution(token, kept / kept.sum(-1, keepdim=True), allowed)


def _parameter(
    inputs: Mapping[str, Any], pattern: str, part: slice, like: torch.Tensor
) -> torch.Tensor | None:
    """Value of a sampling parameter as a column: one a row, or one for all."""
    import torch

    value = next((v for name, v in inputs.items() if re.fullmatch(pattern, name)), None)
    if value is None:
        return None
    flat = torch.as_tensor(value, dtype=torch.float64, device=like.device).reshape(-1, 1)
    return flat if flat.shape[0] == 1 else flat[part]
