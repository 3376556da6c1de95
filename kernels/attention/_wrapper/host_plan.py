"""HostPlan: the planner that engines call themselves, with the lengths that they have on the host.

SGLang's fast_prefill_plan copies to a wrapper's buffers, and then calls `_cached_module.plan` in the
place of plan(), which would read the lengths back from the device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .._plan.attention import Attention
from .._plan.lengths import Indices, lengths
from .buffers import Buffers

_NAMES = ("qo_indptr_host", "kv_indptr_host", "paged_kv_last_page_len", "kv_lens_host")


class HostPlan:
    """Object that FlashInfer calls `_cached_module`."""

    def __init__(
        self, op: str, attention: Attention, pages: torch.Tensor, mask: torch.Tensor | None
    ) -> None:
        self._op = op
        self._attention = attention
        self._pages = pages
        self._mask = mask

    def plan(
        self,
        float_workspace_buffer: torch.Tensor | None,
        int_workspace_buffer: torch.Tensor | None,
        pin_memory_int_workspace_buffer: torch.Tensor | None,
        qo_indptr_host: torch.Tensor,
        kv_indptr_host: torch.Tensor,
        kv_lens_host: torch.Tensor,
        max_total_num_rows: int,
        batch_size: int,
        num_qo_heads: int,
        num_kv_heads: int,
        page_size: int,
        enable_cuda_graph: bool,
        head_dim_qk: int,
        head_dim_vo: int,
        causal: bool,
        window_left: int = -1,
        fixed_split_size: int = -1,
        disable_split_kv: bool = False,
        num_colocated_ctas: int = 0,
        uniform_q_len: int = 0,
    ) -> list[int]:
        """Plan other lengths than the last plan()'s, whose dtypes, scores and mask stay.

        Nothing is copied back and nothing is written but the list of work: indices of pages and the
        bits of masks are where the wrapper's buffers are. Workspaces are the wrapper's own, whatever
        is passed. FlashInfer returns its plan here, which nobody reads: this is an empty list.
        """
        planned = self._attention.planned
        told = planned.options
        if planned.seen:
            raise NotImplementedError(
                f"{self._op}: the last plan() was told of items, whose places are of its batch: "
                "plan() again"
            )
        sizes = (num_qo_heads, num_kv_heads, head_dim_qk, head_dim_vo)
        if sizes != (told.heads, told.kv_heads, told.head_dim, told.head_dim_v):
            raise ValueError(
                f"{self._op}: heads and their sizes are {sizes}, plan() was told "
                f"{(told.heads, told.kv_heads, told.head_dim, told.head_dim_v)}"
            )
        batch = lengths(
            self._op,
            kv_indptr_host,
            qo_indptr_host,
            kv_lens=kv_lens_host,
            page_size=page_size,
            names=_NAMES,
        )
        if batch.requests != batch_size:
            raise ValueError(
                f"{self._op}: argument 'batch_size' is {batch_size}, 'kv_indptr_host' has "
                f"{batch.requests} requests"
            )
        chosen = told._replace(
            causal=causal,
            window_left=max(window_left, -1),
            fixed_split=max(fixed_split_size, 0) * page_size,
            split=not disable_split_kv,
        )
        counts = self._attention.plan(
            planned._replace(lengths=batch.uniform(uniform_q_len), options=chosen),
            Indices("paged_kv_indices_buf", self._pages),
        )
        room = 0 if self._mask is None else self._mask.numel()
        if planned.masked and counts.mask_end > room:
            raise ValueError(
                f"{self._op}: argument 'custom_mask_buf' has {room} bytes; the masks of this plan "
                f"take {counts.mask_end}"
            )
        return []


class HostPlans:
    """Attributes of a wrapper of prefill in pages that such engines read, write and copy to."""

    # What SGLang asks for before it plans; it writes the number of queries.
    _max_total_num_rows: int | None = None

    if TYPE_CHECKING:
        _op: str
        _asked: str
        _attention: Attention
        _buffers: Buffers
        _mask: torch.Tensor | None
        _pages: torch.Tensor | None

    @property
    def _backend(self) -> str:
        """FlashInfer's word for the kernel of the last plan(): "fa2" or "fa3"; before it, what was asked."""
        if self._pages is None:
            return self._asked
        return "fa3" if self._attention.work.backend == "sm90" else "fa2"

    @property
    def _cached_module(self) -> HostPlan | None:
        """None before plan()."""
        if self._pages is None:
            return None
        return HostPlan(self._op, self._attention, self._pages, self._mask)

    @property
    def _qo_indptr_buf(self) -> torch.Tensor | None:
        return self._buffers.get("qo_indptr_buf", None)

    @property
    def _paged_kv_indptr_buf(self) -> torch.Tensor | None:
        return self._buffers.get("paged_kv_indptr_buf", None)

    @property
    def _paged_kv_last_page_len_buf(self) -> torch.Tensor | None:
        return self._buffers.get("paged_kv_last_page_len_buf", None)

    @property
    def _paged_kv_indices_buf(self) -> torch.Tensor | None:
        return self._buffers.get("paged_kv_indices_buf", self._pages)
