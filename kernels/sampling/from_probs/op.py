"""Tokens drawn from rows of probabilities: from all, or from the most likely."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, draws, op

from .._arguments import count_or_rows, number_or_rows, refuse_nan
from .jit import module

kernel = KernelModule(module)

# What FlashInfer's rejection takes from a generator for a draw, so that both leave it the same.
_NUMBERS_A_DRAW = 32
_ORDERS = ("top_k_first", "joint")


@op(archs=">=7.5", dtypes="f32 f16 bf16", devices="cuda emu", mutates="out valid")
def sampling_from_probs(
    probs: torch.Tensor,
    indices: torch.Tensor | None = None,
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    return_valid: bool = False,
    *,
    out: torch.Tensor | None = None,
    valid: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """A token from each row, as likely as its probability says.

    The same numbers give the same tokens, bit by bit, in every run, at every place in the batch and
    in batches of every size.

    probs: (rows, vocab), of up to 1048576 tokens, fp32, fp16 or bf16, rows at any pitch. They need
        not add up to 1. NaN and what is below 0 count as 0; a row of nothing else draws 0.
    indices: (batch,), int32 or int64: the row that each draw is from. None is one of each row.
    deterministic: looked at no more; it always is.
    generator: of the device. None is its default one.
    check_nan: refuse NaN, for which the GPU is waited for.
    seed, offset: of the random numbers, both or neither: numbers, or int64 or uint64 tensors of one
        or of one a draw, which a CUDA graph reads anew. A draw with a seed of its own depends on
        nothing else in the batch; those that share one differ by their number in it.
    return_valid: return (out, valid).
    out: (batch,), int32 or int64. None allocates it with indices' dtype, or int32.
    valid: (batch,), bool: whether the row had anything to draw. None allocates it if asked for.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    name, batch = "sampling_from_probs", _batch(probs, indices)
    if check_nan:
        refuse_nan(name, "probs", probs)
    out, valid = _room(probs, indices, out, valid, return_valid)
    kernel[probs.dtype].sampling_from_probs(
        out,
        valid,
        probs,
        indices,
        *draws(name, batch, batch, probs.device, generator, seed, offset),
        enable_pdl is None or enable_pdl,
    )
    return (out, valid) if return_valid and valid is not None else out


@op(archs=">=7.5", dtypes="f32 f16 bf16", devices="cuda emu", mutates="out valid")
def top_p_sampling_from_probs(
    probs: torch.Tensor,
    top_p: torch.Tensor | float,
    indices: torch.Tensor | None = None,
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    return_valid: bool = False,
    *,
    out: torch.Tensor | None = None,
    valid: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """A token from the most likely of each row that add up to top_p.

    A token is kept if those that are likelier add up to less than top_p: equals are kept together.
    The other arguments are sampling_from_probs's.

    probs: (rows, vocab), as of sampling_from_probs; here they add up to 1.
    top_p: a number, or (rows,): one for each row of probs. From 1 on it keeps all, at 0 and below,
        or where the tensor has NaN, only the likeliest.
    """
    name, batch = "top_p_sampling_from_probs", _batch(probs, indices)
    if check_nan:
        refuse_nan(name, "probs", probs)
    p = number_or_rows(name, "top_p", top_p)
    out, valid = _room(probs, indices, out, valid, return_valid)
    kernel[probs.dtype].top_p_sampling_from_probs(
        out,
        valid,
        probs,
        indices,
        *p,
        *draws(name, batch, _NUMBERS_A_DRAW * batch, probs.device, generator, seed, offset),
        enable_pdl is None or enable_pdl,
    )
    return (out, valid) if return_valid and valid is not None else out


@op(archs=">=7.5", dtypes="f32 f16 bf16", devices="cuda emu", mutates="out valid")
def top_k_sampling_from_probs(
    probs: torch.Tensor,
    top_k: torch.Tensor | int,
    indices: torch.Tensor | None = None,
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    return_valid: bool = False,
    *,
    out: torch.Tensor | None = None,
    valid: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """A token from the top_k most likely of each row.

    A token is kept if fewer than top_k are likelier: equals of the last are kept together. The
    other arguments are sampling_from_probs's.

    probs: (rows, vocab), as of sampling_from_probs.
    top_k: a number, or (rows,) of int32 or int64: one for each row of probs. From vocab on it keeps
        all, and so does what is below 1, by which engines mean that there is no limit.
    """
    name, batch = "top_k_sampling_from_probs", _batch(probs, indices)
    if check_nan:
        refuse_nan(name, "probs", probs)
    k = count_or_rows(name, "top_k", top_k)
    out, valid = _room(probs, indices, out, valid, return_valid)
    kernel[probs.dtype].top_k_sampling_from_probs(
        out,
        valid,
        probs,
        indices,
        *k,
        *draws(name, batch, _NUMBERS_A_DRAW * batch, probs.device, generator, seed, offset),
        enable_pdl is None or enable_pdl,
    )
    return (out, valid) if return_valid and valid is not None else out


@op(archs=">=7.5", dtypes="f32 f16 bf16", devices="cuda emu", mutates="out valid")
def min_p_sampling_from_probs(
    probs: torch.Tensor,
    min_p: torch.Tensor | float,
    indices: torch.Tensor | None = None,
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    return_valid: bool = False,
    *,
    out: torch.Tensor | None = None,
    valid: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """A token from those of each row that are at least min_p times as likely as the likeliest.

    The other arguments are sampling_from_probs's.

    probs: (rows, vocab), as of sampling_from_probs.
    min_p: a number, or (rows,): one for each row of probs. 0 and below keeps all, 1 and above, or
        where the tensor has NaN, only the likeliest.
    """
    name, batch = "min_p_sampling_from_probs", _batch(probs, indices)
    if check_nan:
        refuse_nan(name, "probs", probs)
    p = number_or_rows(name, "min_p", min_p)
    out, valid = _room(probs, indices, out, valid, return_valid)
    kernel[probs.dtype].min_p_sampling_from_probs(
        out,
        valid,
        probs,
        indices,
        *p,
        *draws(name, batch, batch, probs.device, generator, seed, offset),
        enable_pdl is None or enable_pdl,
    )
    return (out, valid) if return_valid and valid is not None else out


@op(archs=">=7.5", dtypes="f32 f16 bf16", devices="cuda emu", mutates="out valid")
def top_k_top_p_sampling_from_probs(
    probs: torch.Tensor,
    top_k: torch.Tensor | int,
    top_p: torch.Tensor | float,
    indices: torch.Tensor | None = None,
    filter_apply_order: str = "top_k_first",
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    return_valid: bool = False,
    *,
    out: torch.Tensor | None = None,
    valid: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """A token from the most likely of each row, by their number and by what they add up to.

    The other arguments are sampling_from_probs's.

    probs: (rows, vocab), as of sampling_from_probs.
    top_k: as of top_k_sampling_from_probs.
    top_p: as of top_p_sampling_from_probs.
    filter_apply_order: "top_k_first": top_p is a part of what those add up to that top_k keeps.
        "joint": what both keep of the row.
    """
    name, batch = "top_k_top_p_sampling_from_probs", _batch(probs, indices)
    if filter_apply_order not in _ORDERS:
        raise ValueError(
            f"{name}: argument 'filter_apply_order' is {filter_apply_order!r}; it is one of "
            f"{', '.join(map(repr, _ORDERS))}"
        )
    if check_nan:
        refuse_nan(name, "probs", probs)
    k, p = count_or_rows(name, "top_k", top_k), number_or_rows(name, "top_p", top_p)
    out, valid = _room(probs, indices, out, valid, return_valid)
    kernel[probs.dtype].top_k_top_p_sampling_from_probs(
        out,
        valid,
        probs,
        indices,
        *k,
        *p,
        filter_apply_order == "top_k_first",
        *draws(name, batch, _NUMBERS_A_DRAW * batch, probs.device, generator, seed, offset),
        enable_pdl is None or enable_pdl,
    )
    return (out, valid) if return_valid and valid is not None else out


def _batch(probs: torch.Tensor, indices: torch.Tensor | None) -> int:
    return probs.shape[0] if indices is None else indices.shape[0]


def _room(
    probs: torch.Tensor,
    indices: torch.Tensor | None,
    out: torch.Tensor | None,
    valid: torch.Tensor | None,
    return_valid: bool,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """For the tokens, and for whether they are any where somebody asks."""
    if out is None:
        dtype = torch.int32 if indices is None else indices.dtype
        out = torch.empty(_batch(probs, indices), dtype=dtype, device=probs.device)
    if valid is None and return_valid:
        valid = torch.empty_like(out, dtype=torch.bool)
    return out, valid
