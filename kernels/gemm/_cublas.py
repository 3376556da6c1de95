"""Products by torch's own functions, which call cuBLAS on a GPU: the backend "cublas"."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional


def _gated(gate: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: gate(x[..., ::2]) * x[..., 1::2]


def _gelu_tanh(x: torch.Tensor) -> torch.Tensor:
    return functional.gelu(x, approximate="tanh")


FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "none": lambda x: x,
    "relu": torch.relu,
    "gelu": functional.gelu,
    "gelu_tanh": _gelu_tanh,
    "silu": functional.silu,
    "swiglu": _gated(functional.silu),
    "geglu": _gated(functional.gelu),
}


def multiply_by_torch(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor | None,
    bias: torch.Tensor | None,
    out: torch.Tensor,
    alpha: float,
    beta: float,
    activation: str,
) -> None:
    """Compute out = activation(alpha a b^T + beta c + bias), of matrices or batches of them.

    A product with a bias, or with c, is one call of cuBLAS. Anything else is computed in fp32 and
    rounded once, by kernels of torch's after the product.
    """
    plain = activation == "none" and out.dtype == a.dtype
    right = b.transpose(-2, -1)
    if plain and c is None and bias is None and alpha == 1.0:
        torch.matmul(a, right, out=out)
    elif plain and c is None and bias is not None and a.dim() == 2:
        torch.addmm(bias, a, right, alpha=alpha, out=out)
    elif plain and c is not None and bias is None:
        add = torch.addmm if a.dim() == 2 else torch.baddbmm
        add(c, a, right, alpha=alpha, beta=beta, out=out)
    else:
        x = alpha * _wide_product(a, right)
        if c is not None:
            x = x + beta * c
        if bias is not None:
            x = x + bias
        out.copy_(FUNCTIONS[activation](x))


def _wide_product(a: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Multiply 16-bit operands to fp32."""
    if a.device.type != "cuda":
        return torch.matmul(a.float(), right.float())
    multiply = torch.mm if a.dim() == 2 else torch.bmm
    return multiply(a, right, out_dtype=torch.float32)
