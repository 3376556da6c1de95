"""The older door to the fused all-reduces: flat tensors, and a workspace as a tensor of pointers."""

from __future__ import annotations

from typing import Any

import torch

from ._fusion import allreduce_fusion, finalized, of_experts, reduced
from ._fusion_workspace import TRTLLMAllReduceFusionWorkspace
from ._pointers import MemoryAt

__all__ = [
    "trtllm_allreduce_fusion",
    "trtllm_create_ipc_workspace_for_all_reduce_fusion",
    "trtllm_destroy_ipc_workspace_for_all_reduce",
    "trtllm_destroy_ipc_workspace_for_all_reduce_fusion",
    "trtllm_lamport_initialize",
    "trtllm_lamport_initialize_all",
    "trtllm_moe_allreduce_fusion",
    "trtllm_moe_finalize_allreduce_fusion",
]

# Workspaces by the address of their tensor of pointers, which they keep alive.
_made: dict[int, tuple[TRTLLMAllReduceFusionWorkspace, torch.Tensor, list[list[int]]]] = {}


def trtllm_create_ipc_workspace_for_all_reduce_fusion(
    tp_rank: int,
    tp_size: int,
    max_token_num: int,
    hidden_dim: int,
    use_fp32_lamport: bool = False,
    group: Any | None = None,
    create_metadata: bool = False,
    comm_backend: Any | None = None,
    use_symm_dev_mem: bool = False,
) -> tuple[Any, ...]:
    """Make a workspace, and return the addresses of its parts on each rank, and a tensor for calls.

    use_fp32_lamport: room for 32-bit elements; buffers are the same for all dtypes.
    create_metadata: return a dict of the arguments, too.
    use_symm_dev_mem: return a list of handles before that, which is empty: memory is CUDA IPC's.
    """
    if use_symm_dev_mem and not create_metadata:
        raise ValueError("use_symm_dev_mem is only supported when create_metadata=True")
    dtype = torch.float32 if use_fp32_lamport else torch.float16
    workspace = TRTLLMAllReduceFusionWorkspace(
        tp_size, tp_rank, max_token_num, hidden_dim, dtype, comm_backend, group
    )
    addresses = workspace.reducing.addresses()
    flat = [address for part in addresses for address in part]
    pointers = torch.tensor([*flat, 0], dtype=torch.int64, device=workspace.reducing.shared.device)
    _made[pointers.data_ptr()] = (workspace, pointers, addresses)
    handles: tuple[Any, ...] = ([],) if use_symm_dev_mem else ()
    metadata = (workspace.metadata,) if create_metadata else ()
    return (addresses, pointers, *handles, *metadata)


def trtllm_destroy_ipc_workspace_for_all_reduce_fusion(
    workspace: list[list[int]], group: Any | None = None
) -> None:
    """Free a workspace, by the addresses that its maker returned. All ranks come here together."""
    for key, (owner, _, addresses) in list(_made.items()):
        if addresses is workspace:
            del _made[key]
            owner.destroy()


def trtllm_destroy_ipc_workspace_for_all_reduce(
    workspace: list[list[int]], group: Any | None = None
) -> None:
    """Free a workspace, as trtllm_destroy_ipc_workspace_for_all_reduce_fusion does."""
    trtllm_destroy_ipc_workspace_for_all_reduce_fusion(workspace, group)


def trtllm_lamport_initialize(buffer_ptr: int, size: int, dtype: torch.dtype) -> None:
    """Write -0.0 to `size` elements of a buffer; to one of a workspace made here, what says "empty".

    That is -0.0 of float32 for every dtype.
    """
    nbytes = size * dtype.itemsize
    for owner, _, _ in _made.values():
        if owner.reducing.empty(buffer_ptr, nbytes):
            return
    MemoryAt(buffer_ptr, nbytes).tensor(dtype).fill_(-0.0)


def trtllm_lamport_initialize_all(
    buffer_0_ptr: int, buffer_1_ptr: int, buffer_2_ptr: int, size: int, dtype: torch.dtype
) -> None:
    """Initialize three buffers of `size` elements."""
    for pointer in (buffer_0_ptr, buffer_1_ptr, buffer_2_ptr):
        trtllm_lamport_initialize(pointer, size, dtype)


def trtllm_allreduce_fusion(
    allreduce_in: torch.Tensor,
    world_size: int,
    world_rank: int,
    token_num: int,
    hidden_dim: int,
    workspace_ptrs: torch.Tensor,
    launch_with_pdl: bool,
    trigger_completion_at_end: bool,
    fp32_acc: bool,
    pattern_code: int,
    use_oneshot: bool | None,
    allreduce_out: torch.Tensor | None,
    residual_in: torch.Tensor | None,
    residual_out: torch.Tensor | None,
    norm_out: torch.Tensor | None,
    quant_out: torch.Tensor | None,
    scale_out: torch.Tensor | None,
    rms_gamma: torch.Tensor | None,
    rms_eps: float | None,
    scale_factor: torch.Tensor | float | None,
    layout_code: int | None,
    metadata: dict[str, Any] | None = None,
    block_quant_group_size: int | None = None,
    weight_bias: float | None = None,
) -> None:
    """Call allreduce_fusion for tensors of token_num * hidden_dim elements of any shape."""
    workspace = _workspace(workspace_ptrs, world_rank, world_size)

    def rows(x: torch.Tensor | None) -> torch.Tensor | None:
        return None if x is None else x.view(token_num, hidden_dim)

    allreduce_fusion(
        allreduce_in.view(token_num, hidden_dim),
        workspace,
        pattern_code,
        launch_with_pdl,
        trigger_completion_at_end,
        rows(allreduce_out),
        rows(residual_out),
        rows(norm_out),
        quant_out,
        scale_out,
        rows(residual_in),
        rms_gamma,
        1e-6 if rms_eps is None else rms_eps,
        scale_factor,
        layout_code,
        use_oneshot,
        block_quant_group_size=block_quant_group_size,
        weight_bias=weight_bias or 0.0,
    )


def trtllm_moe_allreduce_fusion(
    world_size: int,
    world_rank: int,
    token_num: int,
    hidden_dim: int,
    workspace_ptrs: torch.Tensor,
    launch_with_pdl: bool,
    residual_in: torch.Tensor,
    rms_gamma: torch.Tensor,
    rms_eps: float,
    scale_factor: float,
    moe_reduction_device_num_experts: int,
    moe_reduction_scale_input: torch.Tensor,
    moe_reduction_active_experts_token_input: torch.Tensor,
    moe_reduction_token_input: torch.Tensor,
    layout_code: int | None,
    moe_allreduce_out: torch.Tensor | None,
    residual_out: torch.Tensor | None,
    norm_out: torch.Tensor | None,
    quant_out: torch.Tensor | None,
    scale_out: torch.Tensor | None,
    weight_bias: float | None = None,
    *,
    backend: str = "trtllm",
) -> None:
    """Sum the experts' outputs of each token over experts and ranks, add the residual, normalize."""
    _only_trtllm(backend)
    shape = (token_num, hidden_dim)
    experts = (
        moe_reduction_device_num_experts,
        moe_reduction_active_experts_token_input,
        moe_reduction_scale_input,
        moe_reduction_token_input,
    )
    workspace = _workspace(workspace_ptrs, world_rank, world_size)
    norm = _norm(shape, residual_in, rms_gamma, rms_eps, weight_bias, norm_out, residual_out)
    norm |= {
        "sum_out": None if moe_allreduce_out is None else moe_allreduce_out.view(shape),
        "workspace": workspace.reducing,
        "enable_pdl": launch_with_pdl,
    }
    norm |= of_experts(residual_in, quant_out, scale_out, scale_factor, layout_code)
    reduced(experts, norm)


def trtllm_moe_finalize_allreduce_fusion(
    allreduce_in: torch.Tensor,
    residual_in: torch.Tensor,
    norm_weight: torch.Tensor,
    expanded_idx_to_permuted_idx: torch.Tensor,
    norm_out: torch.Tensor | None,
    residual_out: torch.Tensor | None,
    quant_out: torch.Tensor | None,
    scale_out: torch.Tensor | None,
    workspace_ptrs: torch.Tensor,
    launch_with_pdl: bool,
    world_rank: int,
    world_size: int,
    eps: float,
    shared_expert_output: torch.Tensor | None,
    expert_scale_factor: torch.Tensor | None,
    routed_scaling_factor: float | None,
    weight_bias: float | None = None,
    *,
    backend: str = "trtllm",
) -> None:
    """Gather the experts' outputs of each token, sum them over the ranks, add the residual, normalize.

    routed_scaling_factor: of what is gathered, not of the shared experts' output.
    """
    _only_trtllm(backend)
    shape = (residual_in.numel() // norm_weight.numel(), norm_weight.numel())
    workspace = _workspace(workspace_ptrs, world_rank, world_size)
    norm = _norm(shape, residual_in, norm_weight, eps, weight_bias, norm_out, residual_out)
    norm |= {
        "input": None if shared_expert_output is None else shared_expert_output.view(shape),
        "factor": 1.0 if routed_scaling_factor is None else routed_scaling_factor,
        "writes_norm": norm_out is not None or quant_out is None,
        "workspace": workspace.reducing,
        "enable_pdl": launch_with_pdl,
    }
    norm |= of_experts(residual_in, quant_out, scale_out, 1.0, None)
    places = expanded_idx_to_permuted_idx.view(shape[0], -1)
    finalized(allreduce_in, places, expert_scale_factor, norm)


def _norm(
    shape: tuple[int, int],
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float,
    weight_bias: float | None,
    out: torch.Tensor | None,
    residual_out: torch.Tensor | None,
) -> dict[str, Any]:
    return {
        "residual": residual.view(shape),
        "weight": weight,
        "eps": eps,
        "weight_bias": weight_bias or 0.0,
        "out": None if out is None else out.view(shape),
        "residual_out": None if residual_out is None else residual_out.view(shape),
    }


def _workspace(pointers: torch.Tensor, rank: int, size: int) -> TRTLLMAllReduceFusionWorkspace:
    known = _made.get(pointers.data_ptr())
    if known is None:
        raise ValueError(
            "workspace_ptrs is not a workspace that is alive: pass the tensor that "
            "trtllm_create_ipc_workspace_for_all_reduce_fusion returned"
        )
    workspace = known[0]
    if (workspace.rank, workspace.world_size) != (rank, size):
        raise ValueError(
            f"workspace_ptrs is of rank {workspace.rank} of {workspace.world_size}, the call of "
            f"rank {rank} of {size}"
        )
    return workspace


def _only_trtllm(backend: str) -> None:
    if backend != "trtllm":
        raise ValueError(f"backend {backend!r} is for Blackwell GPUs; accepted: trtllm")
