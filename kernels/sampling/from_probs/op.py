"""Draw tokens from rows of probabilities: from all tokens, or from the most likely ones."""

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
    """Draw a token from each row, with its probability.

    The same random numbers give the same tokens, bit by bit, in every run, at every place in the
    batch and in batches of every size.

    probs: (rows, vocab), fp32, fp16 or bf16, up to 2^20 elements a row; last dimension contiguous,
        any row stride. They need not add up to 1. NaN and negative values count as 0; a row of only
        these gives 0.
    indices: (batch,), int32 or int64: the row that each token is drawn from. None draws one from
        every row.
    deterministic: ignored: the result always is.
    generator: on probs' device. None is the default one.
    check_nan: refuse NaN, which waits for the GPU.
    seed, offset: of the random numbers, both or neither: numbers, or int64 or uint64 tensors of one
        element or of one per draw, which replays of a CUDA graph read again. A draw with a seed of
        its own does not depend on the rest of the batch; those that share one differ by their index
        in it.
    return_valid: return (out, valid).
    out: (batch,), int32 or int64. None allocates it with indices' dtype, or int32.
    valid: (batch,), bool: false for a row without a positive probability. None allocates it if
        return_valid.
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
    """Draw a token from the most likely ones of each row that add up to top_p.

    A token is kept if the likelier ones add up to less than top_p; equal ones are kept together.

    probs: (rows, vocab), as in sampling_from_probs; here they add up to 1.
    top_p: a number, or (rows,): one for each row of probs. At 1 and above all are kept; at 0 and
        below, or where the tensor has NaN, only the likeliest.
    The others: as in sampling_from_probs.
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
    """Draw a token from the top_k most likely ones of each row.

    A token is kept if fewer than top_k are likelier; equal ones are kept together.

    probs: (rows, vocab), as in sampling_from_probs.
    top_k: a number, or (rows,) of int32 or int64: one for each row of probs. At vocab and above all
        are kept, and below 1 as well, which engines use for no limit.
    The others: as in sampling_from_probs.
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
    """Draw a token from those of each row that are at least min_p times as likely as the likeliest.

    probs: (rows, vocab), as in sampling_from_probs.
    min_p: a number, or (rows,): one for each row of probs. At 0 and below all are kept; at 1 and
        above, or where the tensor has NaN, only the likeliest.
    The others: as in sampling_from_probs.
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
    """Draw a token from the most likely ones of each row, limited by number and by sum.

    probs: (rows, vocab), as in sampling_from_probs.
    top_k: as in top_k_sampling_from_probs.
    top_p: as in top_p_sampling_from_probs.
    filter_apply_order: "top_k_first": top_p is a share of the sum of the tokens that top_k keeps.
        "joint": a token is kept if both keep it.
    The others: as in sampling_from_probs.
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
    """Allocate the outputs: tokens, and validity if it is asked for."""
    if out is None:
        dtype = torch.int32 if indices is None else indices.dtype
        out = torch.empty(_batch(probs, indices), dtype=dtype, device=probs.device)
    if valid is None and return_valid:
        valid = torch.empty_like(out, dtype=torch.bool)
    return out, valid
