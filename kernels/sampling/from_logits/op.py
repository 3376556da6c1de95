"""Draw tokens from logits: from their softmax, or from its most likely tokens."""

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
    """Draw a token of each row from the softmax of its logits, without writing the softmax.

    One random number per row selects the token by the cumulative sum of the probabilities. A NaN
    counts as -inf, which is never drawn beside other numbers; if there is a +inf, one of these is
    drawn. A row of only -inf gives 0.

    logits: (rows, vocab), fp32, fp16 or bf16, up to 2^20 elements a row; last dimension contiguous,
        any row stride.
    indices: (batch,), int32 or int64: the row that each token is drawn from. None draws one from
        every row. A row out of range gives 0.
    deterministic: ignored: the result always is, bit by bit. Kept for FlashInfer's callers.
    generator: the source of the random numbers; None is the device's default one. A call advances
        it by batch * vocab numbers, as FlashInfer's does.
    check_nan: refuse logits with a NaN, which waits for the GPU.
    seed, offset: in place of a generator, both or neither: numbers, or int64 or uint64 tensors of
        one element or of one per token, which replays of a CUDA graph read again. A token with a
        seed of its own does not depend on the rest of the batch; those that share one differ by
        their index in it.
    out: (batch,), int32 or int64. None allocates it with indices' dtype, or int32.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
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
    """Draw tokens as top_k_top_p_sampling_from_probs does from the softmax, a buffer in fp32.

    logits: (rows, vocab), fp32, fp16 or bf16, up to 2^20 elements a row; last dimension contiguous,
        any row stride. A row whose softmax is NaN (see softmax) gives some token of the vocabulary.
    top_k, top_p, filter_apply_order: as in top_k_top_p_sampling_from_probs, with one number per
        token.
    indices: (batch,), int32 or int64: the row that each token is drawn from. None draws one from
        every row.
    deterministic: ignored: the result always is, bit by bit. Kept for FlashInfer's callers.
    check_nan: refuse logits whose softmax has a NaN, which waits for the GPU.
    generator, seed, offset: as in sampling_from_logits.
    out: (batch,), int32 or int64. None allocates it with indices' dtype, or int32.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
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
