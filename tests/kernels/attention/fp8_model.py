"""A model of Hopper's fp8 tensor cores, and of attention's sums on them, on the host.

    python -m tests.kernels.attention.fp8_model 131072

prints the errors of the table in docs/attention.md. The model: an instruction adds 32
products to a sum. All 33 numbers are shifted to the largest exponent among them, and what lies
below its 13th bit is cut off.
"""

from __future__ import annotations

import sys

import torch

E4M3 = torch.float8_e4m3fn
KEPT_BITS = 13
STEP = 32  # products of an instruction
FACTOR = 256.0  # of weights, so that small ones are not lost


def add(sums: torch.Tensor, products: torch.Tensor) -> torch.Tensor:
    """Add the last dimension of the products, as an instruction does."""
    terms = torch.cat([sums[..., None], products], -1)
    most = terms.abs().amax(-1, keepdim=True)
    exponent = torch.frexp(most).exponent - 1
    unit = torch.ldexp(torch.ones_like(most), exponent - KEPT_BITS)
    return torch.trunc(terms / unit).sum(-1) * unit[..., 0]


def weighed(weights: torch.Tensor, values: torch.Tensor, keys: int) -> torch.Tensor:
    """Return weights @ values; the tensor cores' own sums are of `keys` keys, and added in fp32."""
    total = torch.zeros(len(weights), values.shape[1], dtype=torch.float64)
    for tile in range(0, len(values), keys):
        sums = torch.zeros_like(total)
        for first in range(tile, min(tile + keys, len(values)), STEP):
            at = slice(first, first + STEP)
            sums = add(sums, weights[:, None, at] * values[at].T[None])
        total = (total.float() + sums.float()).double()
    return total


def errors(context: int, rows: int = 8, dim: int = 32, seed: int = 0) -> dict[str, float]:
    """Compute relative errors of results: of rounding to fp8 alone, and with the sums of the model."""
    generator = torch.Generator().manual_seed(seed)
    scores = 2.0 * torch.randn(rows, context, generator=generator, dtype=torch.float64)
    values = 1.0 + torch.randn(context, dim, generator=generator, dtype=torch.float64)
    exact = scores.softmax(-1) @ values
    weights = torch.exp(scores - scores.amax(-1, keepdim=True))
    narrow = (FACTOR * weights).to(E4M3).double() / FACTOR
    values = values.to(E4M3).double()
    total = weights.sum(-1, keepdim=True)

    def error(found: torch.Tensor) -> float:
        return float((found / total - exact).norm() / exact.norm())

    return {
        "exact sums": error(narrow @ values),
        "a tile of 128 keys, then fp32": error(weighed(narrow, values, 128)),
        "a tile of 512 keys, then fp32": error(weighed(narrow, values, 512)),
        "tensor cores alone": error(weighed(narrow, values, context)),
    }


if __name__ == "__main__":
    for length in map(int, sys.argv[1:]):
        print(length, {name: f"{value:.1e}" for name, value in errors(length).items()})
