"""Attention over keys that several requests share, which are read once for all of them.

An op made of others: attention over each part of the keys, and the merge of what they give.
"""

from __future__ import annotations

from typing import cast

import torch

from fictl.op import op

from ...cascade.merge_state.op import merge_state_in_place
from .._arguments.cache import PagedCache
from .._arguments.renaming import Renaming
from ..decode.op import BatchDecodeWithPagedKVCacheWrapper
from ..prefill.op import BatchPrefillWithPagedKVCacheWrapper
from ..single.op import single_prefill_with_kv_cache
from .levels import PerLevel, each_level, graph_buffers

# What arguments are called here that another op names otherwise.
_OF_LEVELS = {
    "qo_indptr": "qo_indptr_arr",
    "paged_kv_indptr": "paged_kv_indptr_arr",
    "paged_kv_indices": "paged_kv_indices_arr",
    "head_dim_qk": "head_dim",
}
_OF_SHARED = {"k": "k_shared", "v": "v_shared"}
_OF_OWN = {
    "indptr": "unique_kv_indptr",
    "indices": "unique_kv_indices",
    "last_page_len": "unique_kv_last_page_len",
    "kv_data_type": "data_type",
    "paged_kv_cache": "unique_kv_cache",
}
_OF_MERGE = {"v": "out", "v_other": "out"}


class MultiLevelCascadeAttentionWrapper:
    """Attention over keys that requests share in levels: a prefix of all, of some, of one each.

    The keys of a level are read once for all queries that see them, not once a request. Every level
    is attention of its own, which merge_state_in_place merges. All levels are in one paged cache.

    num_levels: how many there are, from 1 on; the last one has what is each request's own.
    float_workspace_buffer: for partial results; 128 MiB are enough for most.
    kv_layout: "NHD" or "HND".
    use_cuda_graph: plan() writes to the buffers, of num_levels each, where a captured run() reads.
    """

    def __init__(
        self,
        num_levels: int,
        float_workspace_buffer: torch.Tensor,
        kv_layout: str = "NHD",
        use_cuda_graph: bool = False,
        qo_indptr_buf_arr: PerLevel | None = None,
        paged_kv_indptr_buf_arr: PerLevel | None = None,
        paged_kv_indices_buf_arr: PerLevel | None = None,
        paged_kv_last_page_len_buf_arr: PerLevel | None = None,
    ) -> None:
        buffers = graph_buffers(
            num_levels,
            use_cuda_graph,
            qo_indptr_buf=qo_indptr_buf_arr,
            paged_kv_indptr_buf=paged_kv_indptr_buf_arr,
            paged_kv_indices_buf=paged_kv_indices_buf_arr,
            paged_kv_last_page_len_buf=paged_kv_last_page_len_buf_arr,
        )
        self._graph = use_cuda_graph
        self._levels = [
            BatchPrefillWithPagedKVCacheWrapper(
                float_workspace_buffer, kv_layout, use_cuda_graph=use_cuda_graph, **of_level
            )
            for of_level in buffers
        ]

    @property
    def is_cuda_graph_enabled(self) -> bool:
        return self._graph

    def reset_workspace_buffer(
        self, float_workspace_buffer: torch.Tensor, int_workspace_buffers: PerLevel
    ) -> None:
        """Use other memory: for partial results, and for each level's plan."""
        owned = each_level(len(self._levels), int_workspace_buffers=int_workspace_buffers)
        for level, (own,) in zip(self._levels, owned, strict=True):
            level.reset_workspace_buffer(float_workspace_buffer, own)

    def plan(
        self,
        qo_indptr_arr: PerLevel,
        paged_kv_indptr_arr: PerLevel,
        paged_kv_indices_arr: PerLevel,
        paged_kv_last_page_len: PerLevel,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim: int,
        page_size: int,
        causal: bool = False,
        pos_encoding_mode: str = "NONE",
        use_fp16_qk_reduction: bool = False,
        sm_scale: float | None = None,
        window_left: int = -1,
        logits_soft_cap: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        q_data_type: str | torch.dtype = "float16",
        kv_data_type: str | torch.dtype | None = None,
        *,
        head_dim_vo: int | None = None,
    ) -> None:
        """Share out the work of all levels, for any number of run().

        The first four have an entry, int32, for each level: a list of tensors, or the rows of one.
        A level has requests of its own, each of contiguous queries: mostly a single one in the
        first level. All levels have the same queries.

        qo_indptr_arr: (requests + 1,): where each request's queries begin, and where the last end.
        paged_kv_indptr_arr: (requests + 1,): the same of its pages, in paged_kv_indices_arr.
        paged_kv_indices_arr: the pages of the level's requests.
        paged_kv_last_page_len: (requests,): keys of each request's last page; 0 if it has no pages.
        causal: in the last level, whose keys come last, a query sees none after its own.
        sm_scale: of the scores; None is 1 / sqrt(head_dim).
        head_dim_vo: the size of a head of values; None is head_dim.
        """
        levels = each_level(
            len(self._levels),
            qo_indptr_arr=qo_indptr_arr,
            paged_kv_indptr_arr=paged_kv_indptr_arr,
            paged_kv_indices_arr=paged_kv_indices_arr,
            paged_kv_last_page_len=paged_kv_last_page_len,
        )
        for number, (level, arrays) in enumerate(zip(self._levels, levels, strict=True)):
            queries, begins, indices, last = arrays
            with Renaming(_OF_LEVELS, f"level {number}: "):
                level.plan(
                    queries,
                    begins,
                    indices,
                    last,
                    num_qo_heads,
                    num_kv_heads,
                    head_dim,
                    page_size,
                    causal=causal and level is self._levels[-1],
                    pos_encoding_mode=pos_encoding_mode,
                    use_fp16_qk_reduction=use_fp16_qk_reduction,
                    sm_scale=sm_scale,
                    window_left=window_left,
                    logits_soft_cap=logits_soft_cap,
                    rope_scale=rope_scale,
                    rope_theta=rope_theta,
                    q_data_type=q_data_type,
                    kv_data_type=kv_data_type,
                    head_dim_vo=head_dim_vo,
                )

    @op(
        archs=">=8.0",
        dtypes="f16 bf16 e4m3 e5m2",
        devices="cuda emu",
        mutates="out",
        uses="BatchPrefillWithPagedKVCacheWrapper merge_state_in_place",
    )
    def run(
        self, q: torch.Tensor, paged_kv_cache: PagedCache, *, out: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Attention of the queries of the last plan() over the keys of all levels.

        q: (queries, num_qo_heads, head_dim).
        paged_kv_cache: keys and values, each (pages, page_size, num_kv_heads, head_dim) or, as HND,
            (pages, num_kv_heads, page_size, head_dim); or one tensor (pages, 2, …) of both.
        out: like q. None allocates it.
        """
        *shared, own = self._levels
        if not shared:
            return cast("torch.Tensor", own.run(q, paged_kv_cache, out=out))
        out, lse = own.run(q, paged_kv_cache, out=out, return_lse=True)
        for level in shared:
            _merge(out, lse, level.run(q, paged_kv_cache, return_lse=True))
        return out

    begin_forward = plan
    forward = run


class BatchDecodeWithSharedPrefixPagedKVCacheWrapper:
    """Attention of one query a request over keys that all share, and over the request's own.

    The shared keys are in tensors of their own. MultiLevelCascadeAttentionWrapper has them in pages.

    float_workspace_buffer: for partial results; 128 MiB are enough for most.
    kv_layout: of both, "NHD" or "HND".
    """

    def __init__(self, float_workspace_buffer: torch.Tensor, kv_layout: str = "NHD") -> None:
        self._layout = kv_layout
        self._unique = BatchDecodeWithPagedKVCacheWrapper(float_workspace_buffer, kv_layout)

    def reset_workspace_buffer(
        self, float_workspace_buffer: torch.Tensor, int_workspace_buffer: torch.Tensor
    ) -> None:
        """Use other memory: for partial results, and for the plan."""
        self._unique.reset_workspace_buffer(float_workspace_buffer, int_workspace_buffer)

    def plan(
        self,
        unique_kv_indptr: torch.Tensor,
        unique_kv_indices: torch.Tensor,
        unique_kv_last_page_len: torch.Tensor,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim: int,
        page_size: int,
        data_type: str | torch.dtype = "float16",
        *,
        q_data_type: str | torch.dtype | None = None,
        head_dim_vo: int | None = None,
    ) -> None:
        """Share out the work on the requests' own keys, for any number of run().

        unique_kv_indptr: (requests + 1,), int32: where each one's pages begin, and the last's end.
        unique_kv_indices: the pages, int32.
        unique_kv_last_page_len: (requests,), int32: keys of the last page; 0 if there are no pages.
        data_type: of the keys. q_data_type: of the queries; None is data_type.
        head_dim_vo: the size of a head of values; None is head_dim.
        """
        with Renaming(_OF_OWN):
            self._unique.plan(
                unique_kv_indptr,
                unique_kv_indices,
                unique_kv_last_page_len,
                num_qo_heads,
                num_kv_heads,
                head_dim,
                page_size,
                q_data_type=q_data_type or data_type,
                kv_data_type=data_type,
                head_dim_vo=head_dim_vo,
            )

    @op(
        archs=">=8.0",
        dtypes="f16 bf16 e4m3 e5m2",
        devices="cuda emu",
        mutates="out",
        uses="BatchDecodeWithPagedKVCacheWrapper merge_state_in_place single_prefill_with_kv_cache",
    )
    def run(
        self,
        q: torch.Tensor,
        k_shared: torch.Tensor,
        v_shared: torch.Tensor,
        unique_kv_cache: PagedCache,
        *,
        out: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Attention of the requests of the last plan() over the shared keys and their own.

        q: (requests, num_qo_heads, head_dim).
        k_shared, v_shared: (keys, num_kv_heads, head_dim), or (num_kv_heads, keys, head_dim): HND.
        unique_kv_cache: (k, v), each (pages, page_size, num_kv_heads, head_dim) or, as HND,
            (pages, num_kv_heads, page_size, head_dim); or one tensor (pages, 2, …) of both.
        out: like q. None allocates it.
        """
        with Renaming(_OF_OWN):
            out, lse = self._unique.run(q, unique_kv_cache, out=out, return_lse=True)
        with Renaming(_OF_SHARED):
            shared = single_prefill_with_kv_cache(
                q, k_shared, v_shared, kv_layout=self._layout, return_lse=True
            )
        _merge(out, lse, shared)
        return out

    begin_forward = plan
    forward = run


class BatchPrefillWithSharedPrefixPagedKVCacheWrapper:
    """Attention of each request's queries over keys that all share, and over the request's own.

    The shared keys are in tensors of their own. MultiLevelCascadeAttentionWrapper has them in pages.

    float_workspace_buffer: for partial results; 128 MiB are enough for most.
    kv_layout: of both, "NHD" or "HND".
    """

    def __init__(self, float_workspace_buffer: torch.Tensor, kv_layout: str = "NHD") -> None:
        self._layout = kv_layout
        self._unique = BatchPrefillWithPagedKVCacheWrapper(float_workspace_buffer, kv_layout)

    def reset_workspace_buffer(
        self, float_workspace_buffer: torch.Tensor, int_workspace_buffer: torch.Tensor
    ) -> None:
        """Use other memory: for partial results, and for the plan."""
        self._unique.reset_workspace_buffer(float_workspace_buffer, int_workspace_buffer)

    def plan(
        self,
        qo_indptr: torch.Tensor,
        paged_kv_indptr: torch.Tensor,
        paged_kv_indices: torch.Tensor,
        paged_kv_last_page_len: torch.Tensor,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim: int,
        page_size: int,
        *,
        q_data_type: str | torch.dtype = "float16",
        kv_data_type: str | torch.dtype | None = None,
        head_dim_vo: int | None = None,
    ) -> None:
        """Share out the work on the requests' own keys, for any number of run().

        qo_indptr: (requests + 1,), int32: where each one's queries begin, and the last's end.
        paged_kv_indptr: (requests + 1,), int32: the same of its pages, in paged_kv_indices.
        paged_kv_indices: the pages, int32.
        paged_kv_last_page_len: (requests,), int32: keys of the last page; 0 if there are no pages.
        kv_data_type: None is q_data_type.
        head_dim_vo: the size of a head of values; None is head_dim.
        """
        self._unique.plan(
            qo_indptr,
            paged_kv_indptr,
            paged_kv_indices,
            paged_kv_last_page_len,
            num_qo_heads,
            num_kv_heads,
            head_dim,
            page_size,
            q_data_type=q_data_type,
            kv_data_type=kv_data_type,
            head_dim_vo=head_dim_vo,
        )

    @op(
        archs=">=8.0",
        dtypes="f16 bf16 e4m3 e5m2",
        devices="cuda emu",
        mutates="out",
        uses="BatchPrefillWithPagedKVCacheWrapper merge_state_in_place single_prefill_with_kv_cache",
    )
    def run(
        self,
        q: torch.Tensor,
        k_shared: torch.Tensor,
        v_shared: torch.Tensor,
        unique_kv_cache: PagedCache,
        causal: bool = False,
        use_fp16_qk_reduction: bool = False,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        *,
        out: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Attention of the queries of the last plan() over the shared keys and the requests' own.

        q: (queries, num_qo_heads, head_dim).
        k_shared, v_shared: (keys, num_kv_heads, head_dim), or (num_kv_heads, keys, head_dim): HND.
        unique_kv_cache: (k, v), each (pages, page_size, num_kv_heads, head_dim) or, as HND,
            (pages, num_kv_heads, page_size, head_dim); or one tensor (pages, 2, …) of both.
        causal: of the request's own keys, which come last, a query sees none after its own.
        sm_scale: of the scores; None is 1 / sqrt(head_dim).
        rope_scale, rope_theta: ignored: no positions are encoded here.
        out: like q. None allocates it.
        """
        with Renaming(_OF_SHARED):
            out, lse = single_prefill_with_kv_cache(
                q,
                k_shared,
                v_shared,
                kv_layout=self._layout,
                sm_scale=sm_scale,
                out=out,
                return_lse=True,
            )
        with Renaming({"paged_kv_cache": "unique_kv_cache"}):
            own = self._unique.forward_return_lse(
                q, unique_kv_cache, causal=causal, sm_scale=sm_scale
            )
        _merge(out, lse, own)
        return out

    begin_forward = plan
    forward = run


def _merge(
    out: torch.Tensor, lse: torch.Tensor, part: torch.Tensor | tuple[torch.Tensor, torch.Tensor]
) -> None:
    """Merge (out, lse) of another part of the keys into that which is there."""
    other, lse_other = part
    with Renaming(_OF_MERGE):
        merge_state_in_place(out, lse, other, lse_other)
