"""Tokens drawn from logits: from their softmax as it is, or from its most likely tokens."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, draws, op

from .._arguments import refuse_nan
from ..from_probs.op import top_k_top_p_sampling_from_probs
from ..softmax.op import softmax

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def sampling_from_logits(
    logits: torch.Tensor,
    indices: torch.Tensor | None = None,
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """A token of each row, drawn from the softmax of its logits, which is never written down.

    One random number a row chooses by the cumulative sum of the probabilities. A NaN counts as
    -inf, which is never drawn beside other numbers; where there is a +inf, one of these is drawn. A
    row of -inf alone gives 0.

    logits: (rows, vocab), of up to 2^20 elements a row; the elements of a row are neighbours, the
        rows at any pitch. 16-bit ones are read as they are.
    indices: (batch,), int32 or int64: the row that each token is drawn from. None draws one from
        every row. A row that there is not gives 0.
    deterministic: it always is, bit by bit. Here for FlashInfer's callers.
    generator: where the random numbers come from; None takes that of the device. A call moves it
        on by batch * vocab numbers, as FlashInfer's does.
    check_nan: refuse logits with a NaN, which waits for the GPU.
    seed, offset: in place of a generator, both or none: numbers, or tensors of int64 or uint64 with
        one for all tokens or one for each. Tokens that share a seed draw from the streams of their
        numbers in the batch; one with a seed of its own draws the same wherever it is.
    out: (batch,), int32 or int64. None allocates it with indices' dtype, or int32.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    if check_nan:
        refuse_nan("sampling_from_logits", "logits", logits)
    batch = len(logits if indices is None else indices)
    if out is None:
        dtype = torch.int32 if indices is None else indices.dtype
        out = torch.empty(batch, dtype=dtype, device=logits.device)
    drawn = draws(
        "sampling_from_logits",
        batch,
        batch * logits.shape[-1],
        logits.device,
        generator,
        seed,
        offset,
    )
    kernel.sampling_from_logits(out, logits, indices, *drawn, enable_pdl is None or enable_pdl)
    return out


@op(
    archs=">=7.5",
    dtypes="f16 bf16 f32",
    devices="cuda emu",
    mutates="out",
    uses="softmax top_k_top_p_sampling_from_probs",
)
def top_k_top_p_sampling_from_logits(
    logits: torch.Tensor,
    top_k: torch.Tensor | int,
    top_p: torch.Tensor | float,
    indices: torch.Tensor | None = None,
    filter_apply_order: str = "top_k_first",
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """top_k_top_p_sampling_from_probs of the softmax of the logits, which takes a buffer of fp32.

    logits: (rows, vocab), of up to 2^20 elements a row; the elements of a row are neighbours, the
        rows at any pitch. 16-bit ones are read as they are. What is drawn from a row whose softmax
        is NaN (see softmax) is some token of the vocabulary.
    top_k, top_p, filter_apply_order: as there; of what is to be kept for each token.
    indices: (batch,), int32 or int64: the row that each token is drawn from. None draws one from
        every row.
    deterministic: it always is, bit by bit. Here for FlashInfer's callers.
    check_nan: refuse logits whose softmax has a NaN, which waits for the GPU.
    generator, seed, offset: where the random numbers come from, as in sampling_from_logits.
    out: (batch,), int32 or int64. None allocates it with indices' dtype, or int32.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    probs = softmax(logits, None, enable_pdl)
    if check_nan:
        refuse_nan("top_k_top_p_sampling_from_logits", "softmax(logits)", probs)
    drawn = top_k_top_p_sampling_from_probs(
        probs,
        top_k,
        top_p,
        indices,
        filter_apply_order,
        deterministic,
        generator,
        False,
        seed,
        offset,
        out=out,
        enable_pdl=enable_pdl,
    )
    assert isinstance(drawn, torch.Tensor)
    return drawn
