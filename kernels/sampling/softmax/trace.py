"""Trace of softmax."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from fictl.trace import Const, Tensor, TraceTemplate, Var


def _softmax(logits: torch.Tensor, temperature: torch.Tensor | None) -> torch.Tensor:
    if temperature is None:
        return torch.softmax(logits, dim=-1)
    factor = torch.where(temperature == 0, 0.0, 1.0 / temperature)
    return torch.softmax(logits * factor[:, None], dim=-1)


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make temperatures from 0.25 to 2.25."""
    rows = (sizes["rows"],)
    return {"temperature": 0.25 + 2 * torch.rand(rows, device=device, generator=generator)}


softmax = TraceTemplate(
    axes={"rows": Var("requests"), "vocab": Const("tokens", "v")},
    inputs={
        "logits": Tensor(("rows", "vocab")),
        "temperature": Tensor(
            ("rows",), dtype="float32", optional=True, doc="what the logits are divided by"
        ),
    },
    outputs={"out": Tensor(("rows", "vocab"), dtype="float32")},
    reference=_softmax,
    constraints=("vocab >= 1",),
    extremes=("zeros", "small", "large", "nonfinite"),
    init=_init,
    description="Make probabilities of every row of logits, divided by its temperature.",
)
