"""Trace of fused_add_rmsnorm_fp8_block_quant."""

from __future__ import annotations

import torch

from fictl.trace import TOLERANCES, Const, Expr, Scalar, Tensor, TraceTemplate, Var

_MOST, _LEAST = 448.0, 1e-4  # the largest number of fp8, and the least magnitude of a block


def _reference(
    input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, ...]:
    """Compute without a rounding of the norm in between, which moves a scale by as much."""
    added = input + residual
    normed = added * torch.rsqrt(added.square().mean(dim=-1, keepdim=True) + eps) * weight
    rows, hidden = normed.shape
    blocks = normed.view(rows, hidden // 128, 128)
    scales = blocks.abs().amax(-1).clamp(min=_LEAST) / _MOST
    out = (blocks / scales.unsqueeze(-1)).clamp(-_MOST, _MOST).view(rows, hidden)
    padded = torch.nn.functional.pad(scales.t(), (0, -rows % 4))
    return out, padded, normed, added


_LIKE_INPUT = Tensor(("rows", "hidden"), dtype_from="input")

fused_add_rmsnorm_fp8_block_quant = TraceTemplate(
    axes={
        "rows": Var("tokens"),
        "hidden": Const("values a token", "h"),
        "blocks": Expr("hidden // 128", "scales a token"),
        "scale_rows": Expr("(rows + 3) // 4 * 4", "tokens, and padding"),
    },
    inputs={
        "input": Tensor(("rows", "hidden")),
        "residual": _LIKE_INPUT,
        "weight": Tensor(("hidden",), dtype_from="input"),
        "eps": Scalar("float32", 1e-6, "keeps a row of zeros finite"),
    },
    outputs={
        "out": Tensor(("rows", "hidden"), dtype="float8_e4m3fn"),
        "block_scale": Tensor(("blocks", "scale_rows"), dtype="float32"),
        "normed_out": _LIKE_INPUT,
        "residual": _LIKE_INPUT,
    },
    constraints=("hidden % 128 == 0",),
    # As the rounding of a norm to bf16.
    tolerances={**TOLERANCES, "float32": (4e-3, 1e-7)},
    reference=_reference,
    extremes=("zeros", "small", "large", "nonfinite"),
    description="Add to a residual, normalize the sum, and quantize it by blocks of 128 to fp8.",
)
