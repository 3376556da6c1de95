"""Drafted tokens that a target model takes, and the token that it puts after them."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, draws, op

kernel = KernelModule(__file__)


@op(
    archs=">=7.5",
    dtypes="f32 f16 bf16",
    devices="cuda emu",
    mutates="maybe_output_accepted_token_num maybe_output_emitted_draft_token_num out",
)
def chain_speculative_sampling(
    draft_probs: torch.Tensor,
    draft_token_ids: torch.Tensor,
    target_probs: torch.Tensor,
    maybe_output_accepted_token_num: torch.Tensor | None = None,
    maybe_output_emitted_draft_token_num: torch.Tensor | None = None,
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Tokens distributed as the target model's own, of drafts that a cheaper model has made.

    A draft of probability p is taken where u p < q: q is the target's probability of it, u a random
    number. The first that is not taken is replaced by a token drawn from max(q - p, 0) of all
    tokens; behind a draft that was taken whole comes one drawn from the target's last row. Returned
    are out, and of each request how many drafts were taken, accepted and emitted. The same numbers
    give the same results, bit by bit, in every run, at every place in the batch and in batches of
    every size.

    draft_probs: (requests, drafts, vocab), of up to 1048576 tokens, fp32, fp16 or bf16; the
        elements of a row are neighbours. Rows need not add up to 1. NaN and what is below 0 count
        as 0 where a token is drawn, and a draft whose p or q is NaN is not taken. Where no token
        is beyond the draft's row, rounded as it is, the target's row is drawn from; of a row of
        nothing, token 0.
    draft_token_ids: (requests, drafts), int32 or int64, at any strides. A number that is no token,
        such as the -1 of a shorter draft, is not taken, and the target's row there is drawn from.
    target_probs: (requests, drafts + 1, vocab), as draft_probs. Where their dtypes differ, both
        are converted to fp32.
    maybe_output_accepted_token_num: (requests,), int32: how many drafts would be taken if each were
        looked at alone is added to it. None allocates it.
    maybe_output_emitted_draft_token_num: (requests,), int32: how many were taken before the first
        that was not is added to it. None allocates it.
    deterministic: looked at no more; it always is.
    generator: of the device. None is its default one.
    seed, offset: of the random numbers, both or neither: numbers, or int64 or uint64 tensors of one
        or of one a request, which a CUDA graph reads anew. A request with a seed of its own depends
        on nothing else in the batch; those that share one differ by their number in it. Each takes
        up to drafts + 2 numbers.
    out: (requests, drafts + 1), int32: the tokens; -1 behind the last one. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    name, (requests, drafts) = "chain_speculative_sampling", draft_token_ids.shape
    device = draft_probs.device
    if draft_probs.dtype != target_probs.dtype:
        draft_probs, target_probs = draft_probs.float(), target_probs.float()
    if out is None:
        out = torch.empty((requests, drafts + 1), dtype=torch.int32, device=device)
    accepted, emitted = (
        torch.empty(requests, dtype=torch.int32, device=device) if given is None else given
        for given in (maybe_output_accepted_token_num, maybe_output_emitted_draft_token_num)
    )
    kernel.chain_speculative_sampling(
        out,
        accepted,
        emitted,
        draft_probs,
        draft_token_ids,
        target_probs,
        accepted is maybe_output_accepted_token_num,
        emitted is maybe_output_emitted_draft_token_num,
        *draws(name, requests, requests * (drafts + 2), device, generator, seed, offset),
        enable_pdl is None or enable_pdl,
    )
    return out, accepted, emitted
