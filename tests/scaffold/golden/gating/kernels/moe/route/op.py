"""route: routing of a mixture of experts."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="weights ids")
def route(
    logits: torch.Tensor,
    top_k: int = 8,
    groups: int = 1,
    top_groups: int = 1,
    sigmoid: bool = False,
    renormalize: bool = True,
    scale: float = 1.0,
    bias: torch.Tensor | None = None,
    weights: torch.Tensor | None = None,
    ids: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Choose the experts of every token, the best first, and their weights.

    Scores are the softmax of a token's logits, or their sigmoid. The top_k greatest are chosen; of
    equal ones the first, and NaN before all. What they become as weights is computed in fp32.

    logits: (tokens, experts), up to 1024 experts; last dimension contiguous, all rows at one stride.
    top_k: number of experts, up to 32.
    groups, top_groups: adjacent experts in so many equal groups, up to 32, of which only the best
        top_groups are chosen from: those with the best expert or, with a bias, with the greatest
        sum of their best two.
    sigmoid: scores are sigmoids.
    renormalize: divide the weights of a token by their sum.
    scale: factor of all weights.
    bias: (experts,), float32: added to the scores for the choice alone, not in the weights.
    weights: (tokens, top_k), float32, contiguous. None allocates it.
    ids: (tokens, top_k), int32, contiguous. None allocates it.
    """
    shape = (*logits.shape[:-1], max(top_k, 0))
    if weights is None:
        weights = logits.new_empty(shape, dtype=torch.float32)
    if ids is None:
        ids = logits.new_empty(shape, dtype=torch.int32)
    kernel.route(weights, ids, logits, top_k, groups, top_groups, sigmoid, renormalize, scale, bias)
    return weights, ids
