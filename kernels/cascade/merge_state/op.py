"""Merge attention over parts of the keys into attention over all of them."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="v_merged s_merged")
def merge_state(
    v_a: torch.Tensor,
    s_a: torch.Tensor,
    v_b: torch.Tensor,
    s_b: torch.Tensor,
    *,
    v_merged: torch.Tensor | None = None,
    s_merged: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Average v_a and v_b with the weights 2^s_a and 2^s_b; return that and log2 of their sum.

    v is rounded once from fp32. A state of no keys has an s of -inf, and its v is ignored. Of two
    such states, v is 0 and s is -inf.

    v_a, v_b: (positions, heads, head_dim): the attention over each part of the keys. Last dimension
        contiguous, all rows at one stride.
    s_a, s_b: (positions, heads), contiguous: log2 of the sum of the exponentials. float32; other
        floating-point dtypes are converted.
    v_merged: like v_a; may be v_a or v_b. None allocates it.
    s_merged: (positions, heads), float32; may be s_a or s_b. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    s_a, s_b = _fp32(s_a), _fp32(s_b)
    if v_merged is None:
        v_merged = torch.empty(v_a.shape, dtype=v_a.dtype, device=v_a.device)
    if s_merged is None:
        s_merged = torch.empty(s_a.shape, dtype=torch.float32, device=v_a.device)
    kernel.merge_state(v_merged, s_merged, v_a, s_a, v_b, s_b, enable_pdl is None or enable_pdl)
    return v_merged, s_merged


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="v s")
def merge_state_in_place(
    v: torch.Tensor,
    s: torch.Tensor,
    v_other: torch.Tensor,
    s_other: torch.Tensor,
    mask: torch.Tensor | None = None,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """Merge (v_other, s_other) into (v, s), in place, as merge_state does.

    v, v_other: (positions, heads, head_dim); last dimension contiguous, all rows at one stride.
    s, s_other: (positions, heads), contiguous; s is float32, s_other is converted to it.
    mask: (positions,), bool or uint8: where it is 0, v and s are left unchanged. None merges all.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    kernel.merge_state_in_place(
        v, s, v_other, _fp32(s_other), mask, enable_pdl is None or enable_pdl
    )


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="v_merged s_merged")
def merge_states(
    v: torch.Tensor,
    s: torch.Tensor,
    *,
    v_merged: torch.Tensor | None = None,
    s_merged: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Merge any number of states: average v with the weights 2^s, and return the log2 of their sum.

    v: (positions, states, heads, head_dim); last dimension contiguous, all rows at one stride.
    s: (positions, states, heads), contiguous. float32; other floating-point dtypes are converted.
    v_merged: (positions, heads, head_dim), of v's dtype. None allocates it.
    s_merged: (positions, heads), float32. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    positions, heads, head_dim = v.shape[0], v.shape[-2], v.shape[-1]
    if v_merged is None:
        v_merged = torch.empty((positions, heads, head_dim), dtype=v.dtype, device=v.device)
    if s_merged is None:
        s_merged = torch.empty((positions, heads), dtype=torch.float32, device=v.device)
    kernel.merge_states(v_merged, s_merged, v, _fp32(s), enable_pdl is None or enable_pdl)
    return v_merged, s_merged


def _fp32(s: torch.Tensor) -> torch.Tensor:
    return s if s.dtype is torch.float32 or not s.is_floating_point() else s.float()
