"""fast_decode_plan: plan() of decoding for callers who keep the wrapper's buffers themselves."""

from __future__ import annotations

import torch

from ._arguments.dtypes import Dtype
from ._arguments.options import Heads
from ._wrapper.decode import DecodeWrapper, PageTable, StatedDtypes

__all__ = ["fast_decode_plan"]


def fast_decode_plan(
    self: DecodeWrapper,
    indptr: torch.Tensor,
    indices: torch.Tensor,
    last_page_len: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    page_size: int,
    pos_encoding_mode: str = "NONE",
    window_left: int = -1,
    logits_soft_cap: float | None = None,
    q_data_type: Dtype | None = None,
    kv_data_type: Dtype | None = None,
    data_type: Dtype | None = None,
    sm_scale: float | None = None,
    rope_scale: float | None = None,
    rope_theta: float | None = None,
    non_blocking: bool = True,
    fixed_split_size: int | None = None,
    disable_split_kv: bool = False,
    q_len_per_req: int = 1,
    global_override_indptr_cpu: torch.Tensor | None = None,
) -> None:
    """Plan like BatchDecodeWithPagedKVCacheWrapper.plan, and write to none of its buffers.

    With CUDA graphs the caller has written indptr, indices and last_page_len there; without them
    nothing is different from plan(). Lengths are read on the host, where those on the CPU are used as
    they are: with pages of one slot, last_page_len is not read.

    self: the wrapper.
    global_override_indptr_cpu: indptr on the CPU, in its place.
    q_data_type, kv_data_type: None is data_type's, or float16; the dtype of outputs is the last plan's.
        The other arguments are plan()'s.
    """
    requests = last_page_len.shape[0]
    here = indptr if global_override_indptr_cpu is None else global_override_indptr_cpu
    if page_size == 1:
        last_page_len = torch.ones(requests, dtype=torch.int32)
    self.plan_in_place(
        PageTable(here[: requests + 1], indices, last_page_len, None, page_size),
        Heads(num_qo_heads, num_kv_heads, head_dim, 0),
        StatedDtypes(q_data_type or data_type, kv_data_type or data_type, None, None),
        q_len_per_req,
        non_blocking=non_blocking,
        window_left=window_left,
        soft_cap=logits_soft_cap,
        sm_scale=sm_scale,
        rope_scale=rope_scale,
        rope_theta=rope_theta,
        positions=pos_encoding_mode,
        fixed_split=max(fixed_split_size or 0, 0) * page_size,
        split=not disable_split_kv,
    )
