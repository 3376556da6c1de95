"""Traces of the fused all-reduces. References run on every rank, too."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.distributed as dist

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _summed(part: torch.Tensor) -> torch.Tensor:
    if not dist.is_initialized():
        return part.clone()
    parts = [torch.empty_like(part) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, part.contiguous())
    return torch.stack(parts).sum(0)


def _normalized(
    part: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    added = _summed(part) + residual
    mean_square = added.square().mean(dim=-1, keepdim=True)
    return added * torch.rsqrt(mean_square + eps) * weight, added


def _all_reduce_norm(
    input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    return _normalized(input, residual, weight, eps)


def _moe_reduce(
    experts: torch.Tensor,
    scales: torch.Tensor,
    input: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    part = (experts * scales.unsqueeze(-1)).sum(0) + input
    return _normalized(part, residual, weight, eps)


def _moe_finalize(
    experts: torch.Tensor,
    places: torch.Tensor,
    scales: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    rows = experts[places.clamp(min=0)] * (places >= 0).unsqueeze(-1)
    return _normalized((rows * scales.unsqueeze(-1)).sum(1), residual, weight, eps)


def _places(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make rows of experts, and some that other ranks have."""
    shape = (sizes["tokens"], sizes["top_k"])
    places = torch.randint(
        -1, sizes["rows"], shape, dtype=torch.int32, device=generator.device, generator=generator
    )
    return {"places": places.to(device)}


_AXES: dict[str, Const | Var] = {
    "tokens": Var("tokens"),
    "hidden": Const("values a row", "h"),
}
_ROWS = ("tokens", "hidden")


# Inputs of the norm, which have the dtype of the first one.
_NORM_OF_INPUT: dict[str, Tensor | Scalar] = {
    "residual": Tensor(_ROWS, dtype_from="input"),
    "weight": Tensor(("hidden",), dtype_from="input"),
    "eps": Scalar("float32", 1e-6, "keeps a row of zeros finite"),
}
_NORM_OF_EXPERTS: dict[str, Tensor | Scalar] = {
    "residual": Tensor(_ROWS, dtype_from="experts"),
    "weight": Tensor(("hidden",), dtype_from="experts"),
    "eps": Scalar("float32", 1e-6, "keeps a row of zeros finite"),
}
_OUT = {
    "out": Tensor(_ROWS, dtype_from="residual"),
    "residual_out": Tensor(_ROWS, dtype_from="residual"),
}
# Sums and residuals are rounded before the norm, in which they may be the largest terms.
_TOLERANCES = {"float32": (1e-5, 1e-5), "float16": (2e-3, 4e-3), "bfloat16": (1.6e-2, 3e-2)}
# A rank's contribution is rounded before it is sent, and the sum of those of all ranks may be small
# where they are large. Of eight experts and an input of values around 1 they reach 8 to 16, where
# half a unit in the last place is 2^-5 of bfloat16 and 2^-8 of float16. Two ranks make twice that;
# the norm divides by about as much as the largest weights multiply by.
_TOLERANCES_OF_EXPERTS = {
    "float32": (1e-5, 1e-5),
    "float16": (2e-3, 9e-3),
    "bfloat16": (1.6e-2, 7e-2),
}
_HOW = (
    "weight_bias",
    "sum_out",
    "quantize",
    "quant_out",
    "scale_out",
    "scale",
    "group_size",
    "layout",
    "writes_norm",
    "workspace",
    "strategy",
    "triggers_early",
)

all_reduce_norm = TraceTemplate(
    axes=_AXES,
    inputs={"input": Tensor(_ROWS), **_NORM_OF_INPUT},
    outputs=_OUT,
    reference=_all_reduce_norm,
    tolerances=_TOLERANCES,
    at_default=_HOW,
    op_type="comm",
    description="The sum over all ranks, added to a residual and normalized.",
)
moe_reduce_all_reduce_norm = TraceTemplate(
    axes={**_AXES, "count": Var("experts of a rank")},
    inputs={
        "experts": Tensor(("count", *_ROWS)),
        "scales": Tensor(("count", "tokens"), dtype="float32"),
        "input": Tensor(_ROWS, dtype_from="experts"),
        **_NORM_OF_EXPERTS,
    },
    outputs=_OUT,
    reference=_moe_reduce,
    tolerances=_TOLERANCES_OF_EXPERTS,
    at_default=_HOW,
    op_type="comm",
    description="The weighted sum of experts' outputs, summed over all ranks and normalized.",
)
moe_finalize_all_reduce_norm = TraceTemplate(
    axes={**_AXES, "rows": Var("rows of the experts"), "top_k": Const("experts of a token", "k")},
    inputs={
        "experts": Tensor(("rows", "hidden")),
        "places": Tensor(("tokens", "top_k"), dtype="int32"),
        "scales": Tensor(("tokens", "top_k"), dtype="float32"),
        **_NORM_OF_EXPERTS,
    },
    outputs=_OUT,
    reference=_moe_finalize,
    init=_places,
    constraints=("rows >= 1",),
    tolerances=_TOLERANCES_OF_EXPERTS,
    at_default=(*_HOW, "input", "factor"),
    op_type="comm",
    description="Experts' outputs gathered by token, summed over all ranks and normalized.",
)
