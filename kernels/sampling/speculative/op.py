"""Verify drafted tokens against a target model, and draw the token that follows them."""

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
    """Draw tokens distributed as the target model's own, from the drafts of a cheaper model.

    With u a random number, a draft of probability p is accepted where u p < q, q being the target's
    probability of it. The first that is not accepted is replaced by a token drawn from max(q - p,
    0); if all are accepted, a token drawn from the target's last row follows. Returns out, and per
    request the numbers of drafts accepted and emitted. The same random numbers give the same
    results, bit by bit, in every run, at every place in the batch and in batches of every size.

    draft_probs: (requests, drafts, vocab), fp32, fp16 or bf16, up to 2^20 elements a row; last
        dimension contiguous, any stride of the others. Rows need not add up to 1. NaN and negative
        values count as 0 where a token is drawn, and a draft whose p or q is NaN is not accepted.
        If no token has more than the draft's probability, after rounding, the target's row is drawn
        from; a row without a positive value gives token 0.
    draft_token_ids: (requests, drafts), int32 or int64, any strides. A number out of the
        vocabulary, such as the -1 of a shorter draft, is not accepted, and the target's row is
        drawn from there.
    target_probs: (requests, drafts + 1, vocab), as draft_probs. If their dtypes differ, both are
        converted to fp32.
    maybe_output_accepted_token_num: (requests,), int32: the number of drafts that would be accepted
        if each were judged alone is added to it. None allocates it.
    maybe_output_emitted_draft_token_num: (requests,), int32: the number accepted before the first
        that was not is added to it. None allocates it.
    deterministic: ignored: the result always is.
    generator: on the tensors' device. None is the default one.
    seed, offset: of the random numbers, both or neither: numbers, or int64 or uint64 tensors of one
        element or of one per request, which replays of a CUDA graph read again. A request with a
        seed of its own does not depend on the rest of the batch; those that share one differ by
        their index in it. Each request uses up to drafts + 2 numbers.
    out: (requests, drafts + 1), int32: the tokens, then -1. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
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
