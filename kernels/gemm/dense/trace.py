"""Traces of matrix products."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _dense(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor | None,
    bias: torch.Tensor | None,
    alpha: float,
    beta: float,
) -> torch.Tensor:
    result = alpha * (a @ b.mT)
    if c is not None and beta != 0:
        result = result + beta * c
    return result if bias is None else result + bias


def _linear_silu(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
) -> torch.Tensor:
    return torch.nn.functional.silu(torch.nn.functional.linear(input, weight, bias))


def _mm(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    return a @ b if bias is None else a @ b + bias


def _bmm(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:  # noqa: N803 FlashInfer's names
    return A @ B


def _alpha_beta(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    trans_a: bool,
    trans_b: bool,
    alpha: float,
    beta: float,
) -> torch.Tensor:
    left = a.mT if trans_a else a
    right = b.mT if trans_b else b
    result = alpha * (left @ right)
    return result + beta * c if beta != 0 else result


def _flops(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    return 2 * sizes.get("batch", 1) * sizes["m"] * sizes["n"] * sizes["k"]


# A sum of some thousand products may come near 0, and keeps the rounding of what it was before:
# that of fp32, since it is rounded to the outputs' dtype once.
_TOLERANCES = {"float32": (1e-4, 1e-3), "float16": (2e-3, 2e-3), "bfloat16": (1.6e-2, 1e-2)}
_EXTREMES = ("zeros", "small", "nonfinite")

_AXES: dict[str, Const | Var] = {
    "m": Var("rows of the result, tokens"),
    "n": Const("columns of the result, features", "n"),
    "k": Const("elements of each sum", "k"),
}
_BATCHED: dict[str, Const | Var] = {"batch": Var("products"), **_AXES}
_A = {"a": Tensor(("m", "k"))}
_WEIGHT = {"b": Tensor(("n", "k"), dtype_from="a", doc="as a linear layer stores its weight")}
_RIGHT = {"b": Tensor(("k", "n"), dtype_from="a", doc="a linear layer's weight.T")}
_BIAS = {"bias": Tensor(("n",), dtype_from="a", optional=True, doc="added to every row")}

dense = TraceTemplate(
    axes=_AXES,
    inputs={
        **_A,
        **_WEIGHT,
        "c": Tensor(("m", "n"), dtype_from="a", optional=True, doc="added, times beta"),
        **_BIAS,
        "alpha": Scalar("float32", 1.0, "factor of the product"),
        "beta": Scalar("float32", 1.0, "factor of c"),
    },
    outputs={"out": Tensor(("m", "n"), dtype_from="a")},
    reference=_dense,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    op_type="gemm",
    description="Multiply a matrix with the transpose of another, and add c and a bias.",
)
linear_silu = TraceTemplate(
    axes=_AXES,
    inputs={
        "input": Tensor(("m", "k")),
        "weight": Tensor(("n", "k"), dtype_from="input"),
        "bias": Tensor(("n",), dtype_from="input", optional=True, doc="added to every row"),
    },
    outputs={"out": Tensor(("m", "n"), dtype_from="input")},
    reference=_linear_silu,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    op_type="gemm",
    description="Compute a linear layer and the silu of its outputs.",
)
mm_bf16 = TraceTemplate(
    axes=_AXES,
    inputs={**_A, **_RIGHT, **_BIAS},
    outputs={"out": Tensor(("m", "n"), dtype_from="a")},
    reference=_mm,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    at_default=("pdl", "out_dtype"),
    op_type="gemm",
    description="Multiply two bf16 matrices, and add a bias.",
)
bmm_bf16 = TraceTemplate(
    axes=_BATCHED,
    inputs={
        "A": Tensor(("batch", "m", "k")),
        "B": Tensor(("batch", "k", "n"), dtype_from="A"),
    },
    outputs={"out": Tensor(("batch", "m", "n"), dtype_from="A")},
    reference=_bmm,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    at_default=("out_dtype",),
    op_type="gemm",
    description="Multiply the matrices of two batches of bf16.",
)
gemm_alpha_beta = TraceTemplate(
    axes=_AXES,
    inputs={
        **_A,
        **_WEIGHT,
        "c": Tensor(("m", "n"), dtype_from="a", doc="overwritten"),
        "trans_a": Scalar("bool", False, "whether a is (k, m)"),
        "trans_b": Scalar("bool", True, "whether b is (n, k)"),
        "alpha": Scalar("float32", 1.0, "factor of the product"),
        "beta": Scalar("float32", 0.5, "factor of c"),
    },
    outputs={"c": Tensor(("m", "n"), dtype_from="a")},
    reference=_alpha_beta,
    tolerances=_TOLERANCES,
    extremes=_EXTREMES,
    flops=_flops,
    at_default=("num_sms",),
    op_type="gemm",
    description="Multiply two matrices into a third: c = alpha * a @ b + beta * c.",
)
