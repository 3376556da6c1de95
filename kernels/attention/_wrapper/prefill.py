"""PrefillWrapper: what the wrappers of batches of many queries share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch

from fictl.op import KernelModule

from .._arguments.cache import is_hnd
from .._arguments.dtypes import Dtypes
from .._arguments.head_scales import HeadScales
from .._arguments.lse import check_lse, finished_lse, lse_for_kernel
from .._arguments.numbers import Number, scale
from .._arguments.options import Heads, Options, options
from .._arguments.refusals import OTHER_KERNELS, refuse_given
from .._backends import PREFILL, check_backend
from .._plan.attention import Attention, Work
from .._plan.lengths import Indices, Lengths
from .._plan.prefill import prefill_work
from .._plan.tensors import Place
from .._variant.variant import Variant
from .buffers import Buffers
from .items import SPANS, Items, item_spans
from .masks import SegmentPackbits, packed_mask
from .reached import Reached


class PrefillWrapper(Reached):
    """plan() and run() of a wrapper, but for their arguments. Subclasses say what runs."""

    kernel: ClassVar[KernelModule]
    segment_packbits: ClassVar[SegmentPackbits]
    _attention: Attention
    _buffers: Buffers

    def _set_up(
        self,
        float_workspace_buffer: torch.Tensor,
        kv_layout: str,
        *,
        paged: bool,
        graph: bool,
        buffers: dict[str, torch.Tensor | None],
        custom_mask_buf: torch.Tensor | None,
        mask_indptr_buf: torch.Tensor | None = None,
        backend: str,
        variant: Variant | None,
        **jit: object,
    ) -> None:
        self._op = op = type(self).__name__
        check_backend(op, backend, PREFILL)
        self._asked = backend
        self._has_variant = variant is not None
        refuse_given(op, OTHER_KERNELS, **jit)
        self._hnd = is_hnd(op, kv_layout)
        self.device = float_workspace_buffer.device
        self._attention = Attention(
            op,
            self.kernel,
            self.device,
            float_workspace_buffer,
            place=Place(paged=paged, hnd=self._hnd),
            graph=graph,
            variant=variant,
        )
        self._buffers = Buffers(
            op, self.device, graph, {**buffers, "custom_mask_buf": custom_mask_buf}
        )
        self._buffers.require(*buffers)
        self._buffers.check_lengths("qo_indptr_buf")
        self._mask_indptr_buf = mask_indptr_buf
        self._mask: torch.Tensor | None = None
        self._spans: torch.Tensor | None = None

    @property
    def is_cuda_graph_enabled(self) -> bool:
        """Tell whether a captured run() follows later plans."""
        return self._attention.graph

    def reset_workspace_buffer(
        self, float_workspace_buffer: torch.Tensor, int_workspace_buffer: torch.Tensor
    ) -> None:
        """Use other memory from the next plan() on: for partial results, and for the list of work."""
        self._attention.reset_workspaces(float_workspace_buffer, int_workspace_buffer)

    def _refuse(self, why: str, **arguments: object) -> None:
        refuse_given(self._op, why, **arguments)

    def _options(
        self, heads: Heads, head_dim_vo: int | None, dtypes: Dtypes, **scores: Any
    ) -> Options:
        return options(self._op, heads._replace(dim_v=head_dim_vo or 0), dtypes, **scores)

    def _work(self, lengths: Lengths, chosen: Options, masked: bool, seen: str = "") -> Work:
        queries = lengths.requests * lengths.q_len
        if lengths.qo is not None:
            queries = int(lengths.qo[-1]) - int(lengths.qo[0])
        why = f"{queries} queries of {lengths.requests} requests, {chosen.group} heads each"
        work = prefill_work(
            self._op,
            self.device,
            self._asked,
            lengths,
            chosen,
            queries,
            masked=masked,
            has_variant=self._has_variant or bool(seen),
            why=why,
        )
        return work._replace(seen=seen)

    def _plan(
        self,
        lengths: Lengths,
        chosen: Options,
        *,
        custom_mask: torch.Tensor | None,
        packed_custom_mask: torch.Tensor | None,
        items: Items | None = None,
        indices: Indices | None,
        non_blocking: bool,
    ) -> None:
        masked = custom_mask is not None or packed_custom_mask is not None
        if masked:
            self._buffers.require("custom_mask_buf")
        if items is not None and items.given:
            masks = {"custom_mask": custom_mask, "packed_custom_mask": packed_custom_mask}
            items.check(self._op, lengths.requests, masks)
            self._plan_items(lengths, chosen, items, indices, non_blocking)
            return
        work = self._work(lengths, chosen, masked)
        counts = self._attention.plan(work, indices, non_blocking=non_blocking)
        self._mask = None
        if masked:
            bits = packed_mask(
                self._op,
                lengths,
                counts.mask_end,
                custom_mask=custom_mask,
                packed=packed_custom_mask,
                segment_packbits=self.segment_packbits,
                device=self.device,
            )
            self._mask = self._buffers.place(
                "custom_mask_buf", "custom_mask", bits, torch.uint8, non_blocking
            )

    def _plan_items(
        self,
        lengths: Lengths,
        chosen: Options,
        items: Items,
        indices: Indices | None,
        non_blocking: bool,
    ) -> None:
        """Plan requests of several items: no token sees those after it."""
        work = self._work(lengths, chosen._replace(causal=True), False, SPANS)
        self._attention.plan(work, indices, non_blocking=non_blocking)
        spans = item_spans(lengths, items, self.device)
        kept = self._spans if self._attention.graph else None
        if kept is None:
            self._spans = self._mask = spans
            return
        # CUDA graphs know the place of the first ones; plan() has refused more queries.
        kept[: len(spans)].copy_(spans)
        self._mask = kept

    def _run(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        pages: torch.Tensor | None,
        *,
        head_scales: HeadScales,
        scales: dict[str, Number | None],
        v_scale: Number | None,
        out: torch.Tensor | None,
        lse: torch.Tensor | None,
        return_lse: bool,
        lse_base: str,
        lse_layout: str,
        sinks: torch.Tensor | None,
        scalars: Mapping[str, float] | None,
        windows: torch.Tensor | None = None,
        enable_pdl: bool | None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        check_lse(self._op, lse_base, lse_layout)
        written = lse_for_kernel(self._op, lse, q, lse_layout) if return_lse else None
        out = self._attention.run(
            q,
            k,
            v,
            out=out,
            lse=written,
            pages=pages,
            mask=self._mask,
            sinks=sinks,
            head_scales=head_scales,
            scale=scale(self._op, **scales),
            v_scale=scale(self._op, v_scale=v_scale),
            scalars=scalars,
            windows=windows,
            enable_pdl=enable_pdl,
        )
        if written is None:
            return out
        return out, finished_lse(written, lse, lse_base, lse_layout)
