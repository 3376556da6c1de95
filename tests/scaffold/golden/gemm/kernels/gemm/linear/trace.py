"""Trace of linear."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fictl.trace import Const, Tensor, TraceTemplate, Var


def _reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b.T


def _flops(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    return 2 * sizes["m"] * sizes["n"] * sizes["k"]


linear = TraceTemplate(
    axes={
        "m": Var("changes from call to call"),
        "k": Const("fixed by a model"),
        "n": Const("fixed by a model"),
    },
    inputs={"a": Tensor(("m", "k")), "b": Tensor(("n", "k"), dtype_from="a")},
    outputs={"out": Tensor(("m", "n"), dtype_from="a")},
    reference=_reference,
    # A sum of thousands of products may come near 0, and keeps the rounding of what it was before.
    tolerances={"float16": (2e-3, 1e-2), "bfloat16": (1.6e-2, 1e-2)},
    flops=_flops,
    description="Multiply a matrix by a transposed one.",
)
