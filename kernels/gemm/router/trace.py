"""Traces of products with few rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fictl.trace import Const, Tensor, TraceTemplate, Var


def _tiny(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    result = input @ weight.mT
    return result if bias is None else result + bias


def _scores(mat_a: torch.Tensor, mat_b: torch.Tensor) -> torch.Tensor:
    return mat_a @ mat_b


def _flops(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    return 2 * sizes["m"] * sizes["n"] * sizes["k"]


# As in dense: what fp32 sums lose beside what the outputs' dtype does.
_TOLERANCES = {"float32": (1e-4, 1e-3), "bfloat16": (1.6e-2, 1e-2)}
_EXTREMES = ("zeros", "small", "nonfinite")


def _axes(n: int, k: int) -> dict[str, Const | Var]:
    return {
        "m": Var("tokens, up to 16"),
        "n": Const("experts", "n", value=n),
        "k": Const("elements of a token", "k", value=k),
    }


_MATRICES = {"mat_a": Tensor(("m", "k")), "mat_b": Tensor(("k", "n"), dtype_from="mat_a")}
_FP32 = {"out": Tensor(("m", "n"), dtype="float32")}
_BF16 = {"out": Tensor(("m", "n"), dtype="bfloat16")}
_MOST = ("m <= 16",)

tinygemm_bf16 = TraceTemplate(
    axes={
        "m": Var("tokens"),
        "n": Const("features", "n"),
        "k": Const("elements of a token", "k"),
    },
    inputs={
        "input": Tensor(("m", "k")),
        "weight": Tensor(("n", "k"), dtype_from="input"),
        "bias": Tensor(("n",), dtype_from="input", optional=True, doc="added to every row"),
    },
    outputs={"out": Tensor(("m", "n"), dtype_from="input")},
    reference=_tiny,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    at_default=("use_pdl",),
    op_type="gemm",
    description="Multiply a few tokens with the transpose of a weight, and add a bias.",
)
mm_M1_16_K7168_N128 = TraceTemplate(  # noqa: N816 FlashInfer's name
    axes=_axes(128, 7168),
    inputs=_MATRICES,
    outputs=_FP32,
    reference=_scores,
    constraints=_MOST,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    at_default=("launch_with_pdl",),
    op_type="gemm",
    description="Score 128 experts of 7168 for up to 16 tokens, in fp32.",
)
mm_M1_16_K7168_N256 = TraceTemplate(  # noqa: N816 FlashInfer's name
    axes=_axes(256, 7168),
    inputs=_MATRICES,
    outputs=_FP32,
    reference=_scores,
    constraints=_MOST,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    at_default=("launch_with_pdl",),
    op_type="gemm",
    description="Score 256 experts of 7168 for up to 16 tokens, in fp32.",
)
mm_M1_16_K7168_N256_bf16 = TraceTemplate(  # noqa: N816 FlashInfer's name
    axes=_axes(256, 7168),
    inputs=_MATRICES,
    outputs=_BF16,
    reference=_scores,
    constraints=_MOST,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    at_default=("launch_with_pdl",),
    op_type="gemm",
    description="Score 256 experts of 7168 for up to 16 tokens, in bf16.",
)
mm_M1_16_K7168_N384 = TraceTemplate(  # noqa: N816 FlashInfer's name
    axes=_axes(384, 7168),
    inputs=_MATRICES,
    outputs=_FP32,
    reference=_scores,
    constraints=_MOST,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    at_default=("launch_with_pdl",),
    op_type="gemm",
    description="Score 384 experts of 7168 for up to 16 tokens, in fp32.",
)
mm_M1_16_K7168_N384_bf16 = TraceTemplate(  # noqa: N816 FlashInfer's name
    axes=_axes(384, 7168),
    inputs=_MATRICES,
    outputs=_BF16,
    reference=_scores,
    constraints=_MOST,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    at_default=("launch_with_pdl",),
    op_type="gemm",
    description="Score 384 experts of 7168 for up to 16 tokens, in bf16.",
)
mm_M1_16_K7168_N896 = TraceTemplate(  # noqa: N816 FlashInfer's name
    axes=_axes(896, 7168),
    inputs=_MATRICES,
    outputs=_FP32,
    reference=_scores,
    constraints=_MOST,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    at_default=("launch_with_pdl",),
    op_type="gemm",
    description="Score 896 experts of 7168 for up to 16 tokens, in fp32.",
)
mm_M1_16_K7168_N896_bf16 = TraceTemplate(  # noqa: N816 FlashInfer's name
    axes=_axes(896, 7168),
    inputs=_MATRICES,
    outputs=_BF16,
    reference=_scores,
    constraints=_MOST,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    at_default=("launch_with_pdl",),
    op_type="gemm",
    description="Score 896 experts of 7168 for up to 16 tokens, in bf16.",
)
mm_M1_16_K6144_N256 = TraceTemplate(  # noqa: N816 FlashInfer's name
    axes=_axes(256, 6144),
    inputs=_MATRICES,
    outputs=_FP32,
    reference=_scores,
    constraints=_MOST,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    at_default=("launch_with_pdl",),
    op_type="gemm",
    description="Score 256 experts of 6144 for up to 16 tokens, in fp32.",
)
