"""min_p: a token of every row, drawn by the weights where(probs >= base * max(probs), probs, 0)."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, draws, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def min_p(
    probs: torch.Tensor,
    base: float = 0.1,
    indices: torch.Tensor | None = None,
    generator: torch.Generator | None = None,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Draw a token of each row, by the weights where(probs >= base * max(probs), probs, 0).

    The probability of a token is its share of the sum of the weights, which must be finite. Weights
    not above 0, and NaN, count as 0; a row without a positive weight gives token 0. Computed in
    fp32.

    probs: (rows, vocab); last dimension contiguous, all rows at one stride.
    base: a number.
    indices: (tokens,), int32 or int64: the row of each token; for a row out of range the token
        is 0. None draws one of every row.
    generator: the source of random numbers if seed and offset are None. None is the device's.
    seed, offset: of the random numbers, both or neither: a number each, or an int64 tensor, (1,) or
        (tokens,). The same ones give the same tokens. Tokens that share a seed differ by their
        index in the batch; one with a seed of its own is the same at any index.
    out: (tokens,), int32, contiguous. None allocates it.
    """
    tokens = len(probs if indices is None else indices)
    drawn = draws("min_p", tokens, 1, probs.device, generator, seed, offset)
    if out is None:
        out = torch.empty(tokens, dtype=torch.int32, device=probs.device)
    kernel.min_p(out, probs, base, indices, *drawn)
    return out
