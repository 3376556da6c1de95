"""What the wrappers of batches of many queries share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from fictl.op import KernelModule

from ._arguments import (
    OTHER_KERNELS,
    Number,
    Options,
    check_backend,
    is_hnd,
    options,
    refuse_given,
    scale,
)
from ._attention import Attention
from ._buffers import Buffers
from ._lengths import Indices, Lengths
from ._lse import check_lse, finished_lse, lse_for_kernel
from ._masks import SegmentPackbits, packed_mask
from ._slots import rows_of_tiles

if TYPE_CHECKING:
    from ._define_variant import Variant


class PrefillWrapper:
    """Of what `plan` and `run` of a wrapper do, all but reading their arguments."""

    def __init__(
        self,
        kernel: KernelModule,
        segment_packbits: SegmentPackbits,
        float_workspace_buffer: torch.Tensor,
        kv_layout: str,
        graph: bool,
        buffers: dict[str, torch.Tensor | None],
        custom_mask_buf: torch.Tensor | None,
        backend: str,
        variant: Variant | None,
        *,
        paged: bool,
        **jit: object,
    ) -> None:
        self._op = op = type(self).__name__
        check_backend(op, backend)
        refuse_given(op, OTHER_KERNELS, **jit)
        self._hnd = is_hnd(op, kv_layout)
        self.device = float_workspace_buffer.device
        self._attention = Attention(
            op,
            kernel,
            self.device,
            float_workspace_buffer,
            paged=paged,
            hnd=self._hnd,
            graph=graph,
            variant=variant,
        )
        self._buffers = Buffers(
            op, self.device, graph, {**buffers, "custom_mask_buf": custom_mask_buf}
        )
        self._buffers.require(*buffers)
        self._buffers.check_lengths("qo_indptr_buf")
        self._segment_packbits = segment_packbits
        self._mask: torch.Tensor | None = None

    @property
    def is_cuda_graph_enabled(self) -> bool:
        """Whether a captured run() follows later plans."""
        return self._attention.graph

    def reset_workspace_buffer(
        self, float_workspace_buffer: torch.Tensor, int_workspace_buffer: torch.Tensor
    ) -> None:
        """Use other memory from the next plan() on: for partial results, and for the list of work."""
        self._attention.reset_workspaces(float_workspace_buffer, int_workspace_buffer)

    def _refuse(self, why: str, **given: object) -> None:
        refuse_given(self._op, why, **given)

    def _refuse_items(
        self,
        prefix_len_ptr: torch.Tensor | None,
        token_pos_in_items_ptr: torch.Tensor | None,
        token_pos_in_items_len: int,
        max_item_len_ptr: torch.Tensor | None,
    ) -> None:
        self._refuse(
            "scoring several items at once is not here",
            prefix_len_ptr=prefix_len_ptr,
            token_pos_in_items_ptr=token_pos_in_items_ptr,
            token_pos_in_items_len=token_pos_in_items_len,
            max_item_len_ptr=max_item_len_ptr,
        )

    def _options(
        self,
        heads: int,
        kv_heads: int,
        head_dim: int,
        head_dim_vo: int | None,
        dtypes: tuple[torch.dtype, torch.dtype, torch.dtype],
        **said: Any,
    ) -> Options:
        if head_dim_vo not in (None, head_dim):
            raise NotImplementedError(
                f"{self._op}: argument 'head_dim_vo' is {head_dim_vo}, 'head_dim_qk' {head_dim}; "
                "kernels here take heads of values as long as those of keys"
            )
        return options(self._op, heads, kv_heads, head_dim, *dtypes, **said)

    def _workspace_bytes(self, lengths: Lengths, chosen: Options, masked: bool) -> tuple[int, int]:
        rows, _ = self._rows(lengths, chosen)
        return self._attention.workspace_bytes(lengths, chosen, rows, masked)

    def _rows(self, lengths: Lengths, chosen: Options) -> tuple[int, str]:
        """Of a tile, and why."""
        queries = lengths.requests * lengths.q_len
        if lengths.qo is not None:
            queries = int(lengths.qo[-1]) - int(lengths.qo[0])
        rows = rows_of_tiles(queries, lengths.requests, chosen.group, chosen.head_dim)
        return rows, f"{queries} queries of {lengths.requests} requests, {chosen.group} heads each"

    def _plan(
        self,
        lengths: Lengths,
        chosen: Options,
        custom_mask: torch.Tensor | None,
        packed_custom_mask: torch.Tensor | None,
        indices: Indices | None,
        non_blocking: bool,
    ) -> None:
        masked = custom_mask is not None or packed_custom_mask is not None
        if masked:
            self._buffers.require("custom_mask_buf")
        rows, why = self._rows(lengths, chosen)
        counts = self._attention.plan(lengths, chosen, rows, masked, indices, why, non_blocking)
        self._mask = None
        if masked:
            bits = packed_mask(
                self._op,
                lengths,
                counts.mask_end,
                self.device,
                custom_mask,
                packed_custom_mask,
                self._segment_packbits,
            )
            self._mask = self._buffers.place(
                "custom_mask_buf", "custom_mask", bits, torch.uint8, non_blocking
            )

    def _run(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        pages: torch.Tensor | None,
        *,
        scales: dict[str, Number | None],
        v_scale: Number | None,
        out: torch.Tensor | None,
        lse: torch.Tensor | None,
        return_lse: bool,
        lse_base: str,
        lse_layout: str,
        sinks: torch.Tensor | None,
        scalars: Mapping[str, float] | None,
        enable_pdl: bool | None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        check_lse(self._op, lse_base, lse_layout)
        written = lse_for_kernel(self._op, lse, q, lse_layout) if return_lse else None
        out = self._attention.run(
            q,
            k,
            v,
            out,
            written,
            pages,
            self._mask,
            sinks,
            scale(self._op, **scales),
            scale(self._op, v_scale=v_scale),
            scalars,
            enable_pdl,
        )
        if written is None:
            return out
        return out, finished_lse(written, lse, lse_base, lse_layout)
