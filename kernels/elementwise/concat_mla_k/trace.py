"""Trace of concat_mla_k."""

from __future__ import annotations

import torch

from fictl.trace import Const, Expr, Tensor, TraceTemplate, Var


def _reference(k_nope: torch.Tensor, k_rope: torch.Tensor) -> torch.Tensor:
    return torch.cat((k_nope, k_rope.expand(-1, k_nope.shape[1], -1)), dim=-1)


concat_mla_k = TraceTemplate(
    axes={
        "tokens": Var("tokens"),
        "heads": Const("heads", "h"),
        "one": Const("heads that share it", value=1),
        "nope_dim": Const("values of a head's own", "nope"),
        "rope_dim": Const("values that heads share", "rope"),
        "dim": Expr("nope_dim + rope_dim", "values a head"),
    },
    inputs={
        "k_nope": Tensor(("tokens", "heads", "nope_dim")),
        "k_rope": Tensor(("tokens", "one", "rope_dim"), dtype_from="k_nope"),
    },
    outputs={"k": Tensor(("tokens", "heads", "dim"), dtype_from="k_nope")},
    reference=_reference,
    tolerances={},
    extremes=("zeros", "small", "large", "nonfinite"),
    at_default=("backend",),
    description="Put each head's own part of a key and the part that heads share one after another.",
)
