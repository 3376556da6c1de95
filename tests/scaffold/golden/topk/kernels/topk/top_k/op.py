"""top_k: the largest elements of every row, and their indices."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="values indices")
def top_k(
    logits: torch.Tensor,
    k: int = 8,
    values: torch.Tensor | None = None,
    indices: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the k largest elements of every row, the largest first, and their indices.

    Of equal elements the one with the smaller index comes first, and is chosen where not all are:
    the result is the same in every run. NaN is above infinity, as in torch.topk.

    logits: (rows, vocab); last dimension contiguous, all rows at one stride.
    k: number of elements, up to vocab and 2048.
    values: (rows, k), of logits's dtype. None allocates it.
    indices: (rows, k), int32. None allocates it.
    """
    shape = (*logits.shape[:-1], max(k, 0))
    if values is None:
        values = logits.new_empty(shape)
    if indices is None:
        indices = logits.new_empty(shape, dtype=torch.int32)
    kernel.top_k(values, indices, logits, k)
    return values, indices
