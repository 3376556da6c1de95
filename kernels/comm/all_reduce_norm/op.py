"""Sums over the ranks, added to a residual, normalized, and quantized where asked for."""

from __future__ import annotations

from typing import Any

import torch

from fictl.op import KernelModule, op

from .._all_reduce_workspace import AllReduceWorkspace, default_workspace
from .._crossovers import AllReduceStrategy

kernel = KernelModule(__file__)

_INPUT, _REDUCED, _FINALIZED = range(3)
# What a norm is quantized to, with the word that says how.
_QUANTIZED = {None: 0, "fp8": 1, "fp8-token": 2, "fp8-group": 3, "nvfp4": 4}


@op(
    archs=">=8.0",
    dtypes="f16 bf16 f32",
    devices="cuda emu",
    mutates="out residual_out sum_out quant_out scale_out",
)
def all_reduce_norm(
    input: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-6,
    weight_bias: float = 0.0,
    out: torch.Tensor | None = None,
    residual_out: torch.Tensor | None = None,
    *,
    sum_out: torch.Tensor | None = None,
    quantize: str | None = None,
    quant_out: torch.Tensor | None = None,
    scale_out: torch.Tensor | None = None,
    scale: torch.Tensor | None = None,
    group_size: int = 128,
    layout: int = 0,
    writes_norm: bool = True,
    workspace: AllReduceWorkspace | None = None,
    strategy: str | AllReduceStrategy | None = None,
    triggers_early: bool = True,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor | None, torch.Tensor]:
    """Return rmsnorm(all_reduce(input) + residual) * (weight + weight_bias), and the new residual.

    The sum is that of all_reduce, rounded; the new residual is rounded too, and the norm is of it.
    All results have the same bits on every rank that has the same residual.

    input: (tokens, hidden), contiguous, rows multiples of 16 bytes.
    residual: like input.
    weight: (hidden,), of input's dtype.
    eps: added to the mean square.
    weight_bias: added to every weight; 1 is Gemma's norm.
    out: like input. None allocates it, unless writes_norm is False.
    residual_out: like input; may be residual. None allocates it.
    sum_out: like input: where the sum is written besides.
    quantize: "fp8" (e4m3, divided by scale), "fp8-token" (a scale for each row, into scale_out),
        "fp8-group" (powers of two for each group, their exponents in words of four) or "nvfp4".
    quant_out: the quantized norm: input's shape in e4m3, or (tokens, hidden / 2) bytes of nvfp4.
    scale_out: fp8-token: (tokens, 1), float32; fp8-group: (tokens, ceil(groups / 4)), int32, with
        contiguous columns; nvfp4: e4m3 bytes in `layout`.
    scale: (1,), float32: of fp8, and the global one of nvfp4.
    group_size: of fp8-group: 8 (of float32: 4) times a power of two up to 32.
    layout: of nvfp4's scales: 0 is 128x4, 1 is 8x4, 2 is linear.
    writes_norm: False: only the quantized norm is written.
    workspace: None: that of torch's default group.
    strategy: as in all_reduce.
    triggers_early: let a kernel that is launched with programmatic dependent launch set up before
        this one ends. Where ranks share a GPU it starts behind the exchange.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    return _fused(
        "all_reduce_norm",
        (_INPUT, input, None, None, None, 0, 1.0),
        residual,
        weight,
        (eps, weight_bias),
        (sum_out, residual_out, out, writes_norm),
        (quantize, quant_out, scale_out, scale, layout if quantize == "nvfp4" else group_size),
        (workspace, strategy, triggers_early, enable_pdl),
    )


@op(
    archs=">=8.0",
    dtypes="f16 bf16 f32",
    devices="cuda emu",
    mutates="out residual_out sum_out quant_out scale_out",
)
def moe_reduce_all_reduce_norm(
    experts: torch.Tensor,
    scales: torch.Tensor,
    input: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-6,
    weight_bias: float = 0.0,
    out: torch.Tensor | None = None,
    residual_out: torch.Tensor | None = None,
    *,
    sum_out: torch.Tensor | None = None,
    quantize: str | None = None,
    quant_out: torch.Tensor | None = None,
    scale_out: torch.Tensor | None = None,
    scale: torch.Tensor | None = None,
    group_size: int = 128,
    layout: int = 0,
    writes_norm: bool = True,
    workspace: AllReduceWorkspace | None = None,
    strategy: str | AllReduceStrategy | None = None,
    triggers_early: bool = True,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor | None, torch.Tensor]:
    """Return all_reduce_norm of the sum over e of scales[e] * experts[e], plus input.

    What a rank adds is summed in fp32, and rounded once.

    experts: (experts of this rank, tokens, hidden), contiguous.
    scales: (experts of this rank, tokens), float32 or of experts' dtype.
    input: (tokens, hidden), of experts' dtype.
    residual, weight, and what follows: as in all_reduce_norm.
    """
    return _fused(
        "moe_reduce_all_reduce_norm",
        (_REDUCED, input, experts, scales, None, experts.shape[0], 1.0),
        residual,
        weight,
        (eps, weight_bias),
        (sum_out, residual_out, out, writes_norm),
        (quantize, quant_out, scale_out, scale, layout if quantize == "nvfp4" else group_size),
        (workspace, strategy, triggers_early, enable_pdl),
    )


@op(
    archs=">=8.0",
    dtypes="f16 bf16 f32",
    devices="cuda emu",
    mutates="out residual_out sum_out quant_out scale_out",
)
def moe_finalize_all_reduce_norm(
    experts: torch.Tensor,
    places: torch.Tensor,
    scales: torch.Tensor | None,
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-6,
    weight_bias: float = 0.0,
    out: torch.Tensor | None = None,
    residual_out: torch.Tensor | None = None,
    *,
    input: torch.Tensor | None = None,
    factor: float = 1.0,
    sum_out: torch.Tensor | None = None,
    quantize: str | None = None,
    quant_out: torch.Tensor | None = None,
    scale_out: torch.Tensor | None = None,
    scale: torch.Tensor | None = None,
    group_size: int = 128,
    layout: int = 0,
    writes_norm: bool = True,
    workspace: AllReduceWorkspace | None = None,
    strategy: str | AllReduceStrategy | None = None,
    triggers_early: bool = True,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor | None, torch.Tensor]:
    """Return all_reduce_norm of factor * the sum over k of scales[t, k] * experts[places[t, k]].

    What a rank adds is summed in fp32, and rounded once.

    experts: (any rows, hidden), contiguous.
    places: (tokens, top_k), int32: rows of experts; below 0: none.
    scales: (tokens, top_k), float32 or of experts' dtype. None: 1.
    input: (tokens, hidden): added behind the factor, as the output of shared experts.
    residual, weight, and what follows: as in all_reduce_norm.
    """
    return _fused(
        "moe_finalize_all_reduce_norm",
        (_FINALIZED, input, experts, scales, places, places.shape[-1], factor),
        residual,
        weight,
        (eps, weight_bias),
        (sum_out, residual_out, out, writes_norm),
        (quantize, quant_out, scale_out, scale, layout if quantize == "nvfp4" else group_size),
        (workspace, strategy, triggers_early, enable_pdl),
    )


def _fused(
    name: str,
    adds: tuple[Any, ...],
    residual: torch.Tensor,
    weight: torch.Tensor,
    numbers: tuple[float, float],
    outputs: tuple[Any, ...],
    quantization: tuple[Any, ...],
    how: tuple[Any, ...],
) -> tuple[torch.Tensor | None, torch.Tensor]:
    sum_out, residual_out, out, writes_norm = outputs
    workspace, strategy, triggers_early, enable_pdl = how
    quantize, *quantized = quantization
    if quantize not in _QUANTIZED:
        known = ", ".join(repr(known) for known in _QUANTIZED if known)
        raise ValueError(f"{name}: argument 'quantize' is {quantize!r}; accepted: {known}")
    nbytes = residual.nbytes
    if workspace is None:
        workspace = default_workspace(nbytes, residual.device)
    protocol, two_shot = workspace.strategy(name, nbytes, strategy, with_norm=True)
    if out is None and writes_norm:
        out = torch.empty_like(residual)
    if residual_out is None:
        residual_out = torch.empty_like(residual)
    kernel.all_reduce_norm(
        name,
        residual,
        weight,
        *adds,
        sum_out,
        residual_out,
        out,
        *numbers,
        _QUANTIZED[quantize],
        *quantized,
        workspace.shared.memory,
        workspace.shared.table,
        workspace.sizes.lamport,
        workspace.sizes.flags,
        protocol,
        two_shot,
        triggers_early,
        enable_pdl is None or enable_pdl,
    )
    return out, residual_out
