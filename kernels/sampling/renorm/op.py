"""Keep only the most likely tokens of each row: as probabilities, or as logits."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .._arguments import count_or_rows, number_or_rows
from .jit import module

kernel = KernelModule(module)


@op(archs=">=7.5", dtypes="f32 f16 bf16", devices="cuda emu", mutates="out")
def top_p_renorm_probs(
    probs: torch.Tensor,
    top_p: torch.Tensor | float,
    is_deterministic: bool = False,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Divide the most likely tokens that add up to top_p by their sum; set the others to 0.

    A token is kept if the likelier ones add up to less than top_p; equal ones are kept together.
    The result of a row is the same, bit by bit, in every run and every batch.

    probs: (rows, vocab), fp32, fp16 or bf16, up to 2^20 elements a row; last dimension contiguous,
        any row stride. They add up to 1. NaN and negative values count as 0; a row of only these
        gives zeros.
    top_p: a number, or (rows,). At 1 and above all are kept; at 0 and below, or where the tensor
        has NaN, only the likeliest.
    is_deterministic: ignored: the result always is.
    out: the shape of probs, float32, all rows at one stride; may be probs itself. None allocates
        it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    p = number_or_rows("top_p_renorm_probs", "top_p", top_p)
    if out is None:
        out = torch.empty(probs.shape, dtype=torch.float32, device=probs.device)
    kernel[probs.dtype].top_p_renorm_probs(out, probs, *p, enable_pdl is None or enable_pdl)
    return out


@op(archs=">=7.5", dtypes="f32 f16 bf16", devices="cuda emu", mutates="out")
def top_k_renorm_probs(
    probs: torch.Tensor,
    top_k: torch.Tensor | int,
    is_deterministic: bool = False,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Divide the top_k most likely tokens by their sum; set the others to 0.

    A token is kept if fewer than top_k are likelier; equal ones are kept together. The result of a
    row is the same, bit by bit, in every run and every batch.

    probs: (rows, vocab), as in top_p_renorm_probs; they need not add up to 1.
    top_k: a number, or (rows,) of int32 or int64. At vocab and above all are kept, and below 1 as
        well, which engines use for no limit.
    is_deterministic: ignored: the result always is.
    out: like probs, of its dtype, all rows at one stride; may be probs itself. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    k = count_or_rows("top_k_renorm_probs", "top_k", top_k)
    if out is None:
        out = torch.empty(probs.shape, dtype=probs.dtype, device=probs.device)
    kernel[probs.dtype].top_k_renorm_probs(out, probs, *k, enable_pdl is None or enable_pdl)
    return out


@op(archs=">=7.5", dtypes="f32 f16 bf16", devices="cuda emu", mutates="out")
def top_k_mask_logits(
    logits: torch.Tensor,
    top_k: torch.Tensor | int,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Keep the top_k largest logits; set the others to -inf.

    A logit is kept if fewer than top_k are larger; equal ones are kept together.

    logits: (rows, vocab), fp32, fp16 or bf16, up to 2^20 elements a row; last dimension contiguous,
        any row stride. NaN counts as -inf, and becomes it.
    top_k: a number, or (rows,) of int32 or int64. At vocab and above all are kept, and below 1 as
        well, which engines use for no limit.
    out: like logits, of its dtype, all rows at one stride; may be logits itself. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    k = count_or_rows("top_k_mask_logits", "top_k", top_k)
    if out is None:
        out = torch.empty(logits.shape, dtype=logits.dtype, device=logits.device)
    kernel[logits.dtype].top_k_mask_logits(out, logits, *k, enable_pdl is None or enable_pdl)
    return out
