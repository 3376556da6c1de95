"""allreduce_fusion: FlashInfer's patterns as calls of fictl's ops."""

from __future__ import annotations

from typing import Any

import torch

from ._all_reduce_workspace import AllReduceWorkspace
from ._fusion_numbers import AllReduceFusionPattern as Pattern
from ._fusion_workspace import AllReduceFusionWorkspace, TRTLLMAllReduceFusionWorkspace
from .all_reduce.op import all_reduce
from .all_reduce_norm.op import (
    all_reduce_norm,
    moe_finalize_all_reduce_norm,
    moe_reduce_all_reduce_norm,
)

__all__ = ["allreduce_fusion"]

# What a pattern quantizes to, and whether it writes the norm, too.
QUANTIZED: dict[int, tuple[str | None, bool]] = {
    Pattern.kARResidualRMSNorm: (None, True),
    Pattern.kARResidualRMSNormFP8Quant: ("fp8", False),
    Pattern.kARResidualRMSNormFP4Quant: ("nvfp4", False),
    Pattern.kARResidualRMSNormOutFP8Quant: ("fp8", True),
    Pattern.kARResidualRMSNormOutFP4Quant: ("nvfp4", True),
    Pattern.kARResidualRMSNormPerTokenGroupFP8PackedQuant: ("fp8-group", False),
    Pattern.kARResidualRMSNormOutPerTokenGroupFP8PackedQuant: ("fp8-group", True),
    Pattern.kARResidualRMSNormDynamicFP8Quant: ("fp8-token", False),
    Pattern.kARResidualRMSNormOutDynamicFP8Quant: ("fp8-token", True),
}


def allreduce_fusion(
    input: torch.Tensor,
    workspace: AllReduceFusionWorkspace,
    pattern: int,
    launch_with_pdl: bool = False,
    trigger_completion_at_end: bool = True,
    output: torch.Tensor | None = None,
    residual_out: torch.Tensor | None = None,
    norm_out: torch.Tensor | None = None,
    quant_out: torch.Tensor | None = None,
    scale_out: torch.Tensor | None = None,
    residual_in: torch.Tensor | None = None,
    rms_gamma: torch.Tensor | None = None,
    rms_eps: float = 1e-6,
    scale_factor: torch.Tensor | float | None = None,
    layout_code: int | None = None,
    use_oneshot: bool | None = None,
    fp32_acc: bool = False,
    moe_reduction_device_num_experts: int | None = None,
    moe_reduction_scale_input: torch.Tensor | None = None,
    moe_reduction_active_experts_token_input: torch.Tensor | None = None,
    moe_reduction_token_input: torch.Tensor | None = None,
    expanded_idx_to_permuted_idx: torch.Tensor | None = None,
    expert_scale_factor: torch.Tensor | None = None,
    shared_expert_output: torch.Tensor | None = None,
    block_quant_group_size: int | None = None,
    weight_bias: float = 0.0,
    *,
    moe_finalize_backend: str = "trtllm",
) -> torch.Tensor:
    """Sum over the ranks and do what the pattern says: see all_reduce_norm for the arithmetic.

    Sums are fp32 in the order of the ranks, whatever fp32_acc and use_oneshot are. Returns the
    output that is furthest on: norm_out, quant_out or output.
    """
    _only_trtllm(moe_finalize_backend)
    reducing = reducing_of(workspace)
    if pattern == Pattern.kAllReduce:
        way = reducing.shots(input.nbytes, use_oneshot)
        total: torch.Tensor = all_reduce(input, output, reducing, way, launch_with_pdl)
        return total
    residual, gamma = required(pattern, residual_in=residual_in, rms_gamma=rms_gamma)
    norm = {
        "residual": residual,
        "weight": gamma,
        "eps": rms_eps,
        "weight_bias": weight_bias,
        "out": norm_out,
        "residual_out": residual_out,
        "sum_out": output,
        "workspace": reducing,
        "triggers_early": not trigger_completion_at_end,
        "enable_pdl": launch_with_pdl,
    }
    if pattern == Pattern.kMoEReductionARResidualRMSNorm:
        experts = required(
            pattern,
            moe_reduction_device_num_experts=moe_reduction_device_num_experts,
            moe_reduction_active_experts_token_input=moe_reduction_active_experts_token_input,
            moe_reduction_scale_input=moe_reduction_scale_input,
            moe_reduction_token_input=moe_reduction_token_input,
        )
        norm |= of_experts(residual, quant_out, scale_out, scale_factor, layout_code)
        return furthest(reduced(experts, norm), quant_out)
    if pattern == Pattern.kMoEFinalizeARResidualRMSNorm:
        (places,) = required(pattern, expanded_idx_to_permuted_idx=expanded_idx_to_permuted_idx)
        norm |= of_experts(residual, quant_out, scale_out, scale_factor, layout_code)
        norm |= {"input": shared_expert_output, "writes_norm": True}
        return furthest(finalized(input, places, expert_scale_factor, norm), quant_out)
    quantize, norm["writes_norm"] = _quantized(pattern)
    norm |= quantization(
        quantize, residual, quant_out, scale_out, scale_factor, layout_code, block_quant_group_size
    )
    norm["strategy"] = reducing.shots(input.nbytes, use_oneshot)
    return furthest(all_reduce_norm(input, **norm)[0], quant_out)


def reduced(experts: tuple[Any, ...], norm: dict[str, Any]) -> torch.Tensor | None:
    """Call moe_reduce_all_reduce_norm with what the pattern has: tensors of any number of
    dimensions.
    """
    count, rows, scales, token = experts
    shape = norm["residual"].shape
    norm["writes_norm"] = norm["out"] is not None or norm.get("quantize") is None
    out: torch.Tensor | None
    out, _ = moe_reduce_all_reduce_norm(
        rows.view(count, *shape), scales.view(count, shape[0]), token.view(shape), **norm
    )
    return out


def finalized(
    rows: torch.Tensor,
    places: torch.Tensor,
    scales: torch.Tensor | None,
    norm: dict[str, Any],
) -> torch.Tensor | None:
    """Call moe_finalize_all_reduce_norm."""
    rows = rows.view(-1, norm["residual"].shape[-1])
    out: torch.Tensor | None
    out, _ = moe_finalize_all_reduce_norm(rows, places, scales, **norm)
    return out


def required(pattern: int, **arguments: Any) -> tuple[Any, ...]:
    """Return the arguments; raise if one is missing."""
    for name, value in arguments.items():
        if value is None:
            raise ValueError(f"{name} is required for pattern {pattern}")
    return tuple(arguments.values())


def quantization(
    quantize: str | None,
    residual: torch.Tensor,
    quant_out: torch.Tensor | None,
    scale_out: torch.Tensor | None,
    scale_factor: torch.Tensor | float | None,
    layout_code: int | None,
    group_size: int | None,
) -> dict[str, Any]:
    """Return the arguments of all_reduce_norm that say how the norm is quantized."""
    if quantize is None:
        return {}
    given: dict[str, Any] = {
        "quantize": quantize,
        "quant_out": quant_out,
        "scale_out": scale_out,
        "layout": layout_code or 0,
    }
    if quantize in ("fp8", "nvfp4"):
        given["scale"] = _scale(scale_factor, residual)
    if quantize == "fp8-group":
        if not group_size or group_size < 0:
            raise ValueError(f"block_quant_group_size is {group_size}; it has to be positive")
        given["group_size"] = group_size
    return given


def _scale(scale: torch.Tensor | float | None, like: torch.Tensor) -> torch.Tensor:
    if isinstance(scale, torch.Tensor):
        return scale.to(torch.float32)
    return torch.full((1,), 1.0 if scale is None else scale, device=like.device)


def of_experts(
    residual: torch.Tensor,
    quant_out: torch.Tensor | None,
    scale_out: torch.Tensor | None,
    scale_factor: torch.Tensor | float | None,
    layout_code: int | None,
) -> dict[str, Any]:
    """Return how the norm behind experts is quantized: to nvfp4, where there is an output for it."""
    kind = None if quant_out is None else "nvfp4"
    return quantization(kind, residual, quant_out, scale_out, scale_factor, layout_code, None)


def furthest(norm: torch.Tensor | None, quantized: torch.Tensor | None) -> torch.Tensor:
    """Return the output that is furthest on."""
    result = quantized if norm is None else norm
    assert result is not None
    return result


def reducing_of(workspace: AllReduceFusionWorkspace) -> AllReduceWorkspace:
    """Return fictl's workspace in one of FlashInfer's name."""
    if isinstance(workspace, TRTLLMAllReduceFusionWorkspace):
        return workspace.reducing
    raise TypeError(
        f"workspace is {type(workspace).__name__}; pass one of create_allreduce_fusion_workspace"
    )


def _quantized(pattern: int) -> tuple[str | None, bool]:
    if pattern not in QUANTIZED:
        raise ValueError(f"pattern is {pattern}; accepted: 0 to 11, of AllReduceFusionPattern")
    return QUANTIZED[pattern]


def _only_trtllm(backend: str) -> None:
    if backend != "trtllm":
        raise ValueError(f"backend {backend!r} is for Blackwell GPUs; accepted: trtllm")
