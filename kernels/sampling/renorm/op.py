"""Rows of which the most likely tokens are kept: as probabilities, or as logits."""

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
    """The most likely tokens that add up to top_p, divided by their sum; 0 for the others.

    A token is kept if those that are likelier add up to less than top_p: equals are kept together.
    A row is the same, bit by bit, in every run and in whatever batch.

    probs: (rows, vocab), of up to 1048576 tokens, fp32, fp16 or bf16, rows at any pitch; they add
        up to 1. NaN and what is below 0 count as 0; a row of nothing else gives zeros.
    top_p: a number, or (rows,). From 1 on it keeps all, at 0 and below, or where the tensor has
        NaN, only the likeliest.
    is_deterministic: looked at no more; it always is.
    out: like probs, fp32, rows at any pitch; may be probs itself. None allocates it.
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
    """The top_k most likely tokens, divided by their sum; 0 for the others.

    A token is kept if fewer than top_k are likelier: equals of the last are kept together. A row is
    the same, bit by bit, in every run and in whatever batch.

    probs: (rows, vocab), as of top_p_renorm_probs; they need not add up to 1.
    top_k: a number, or (rows,) of int32 or int64. From vocab on it keeps all, and so does what is
        below 1, by which engines mean that there is no limit.
    is_deterministic: looked at no more; it always is.
    out: like probs, of its dtype, rows at any pitch; may be probs itself. None allocates it.
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
    """The top_k largest logits; -inf for the others.

    A logit is kept if fewer than top_k are larger: equals of the last are kept together.

    logits: (rows, vocab), of up to 1048576 tokens, fp32, fp16 or bf16, rows at any pitch. NaN
        counts as -inf, and becomes it.
    top_k: a number, or (rows,) of int32 or int64. From vocab on it keeps all, and so does what is
        below 1, by which engines mean that there is no limit.
    out: like logits, of its dtype, rows at any pitch; may be logits itself. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    k = count_or_rows("top_k_mask_logits", "top_k", top_k)
    if out is None:
        out = torch.empty(logits.shape, dtype=logits.dtype, device=logits.device)
    kernel[logits.dtype].top_k_mask_logits(out, logits, *k, enable_pdl is None or enable_pdl)
    return out
