"""DecodeWrapper: what the wrappers of decoding share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import torch

from fictl.op import KernelModule, PlannedChoice

from .._arguments.block_scales import block_scales
from .._arguments.cache import PagedCache, is_hnd
from .._arguments.dtypes import Dtype, dtypes_of
from .._arguments.lse import lse_for_kernel
from .._arguments.numbers import Number, scale
from .._arguments.options import Heads, Options, options
from .._arguments.refusals import OTHER_KERNELS, refuse_given
from .._backends import AUTO, DECODE, check_backend
from .._config import FP4
from .._head_dims import cuda_cores_misfit
from .._plan.attention import Attention, Work
from .._plan.lengths import Indices, Lengths, lengths
from .._plan.prefill import prefill_work
from .._plan.tensors import Place
from .._tiles import DECODE_ROWS, decode_rows
from .._variant.variant import Variant
from .buffers import Buffers
from .reached import Reached

_NAMES = ("q_len_per_req", "indptr", "last_page_len", "seq_lens")
_BUFFERS = ("paged_kv_indptr_buffer", "paged_kv_indices_buffer", "paged_kv_last_page_len_buffer")
_SIXTEEN_BITS = ("float16", "bfloat16", torch.float16, torch.bfloat16)


class PageTable(NamedTuple):
    """The pages of a batch's requests, as plan() is told."""

    indptr: torch.Tensor
    indices: torch.Tensor
    last_page_len: torch.Tensor
    seq_lens: torch.Tensor | None
    page_size: int

    def lengths(self, op: str, q_len: int) -> Lengths:
        """Read the lengths on the host; every request has `q_len` queries."""
        return lengths(
            op,
            self.indptr,
            last_page_len=self.last_page_len,
            kv_lens=self.seq_lens,
            q_len=q_len,
            page_size=self.page_size,
            names=_NAMES,
        )


class StatedDtypes(NamedTuple):
    """The dtypes as plan() is told; `both` is an older argument for queries and keys."""

    q: Dtype | None
    kv: Dtype | None
    o: Dtype | None
    both: Dtype | None


class DecodeWrapper(Reached):
    """plan() and run() of decoding, but for their arguments. Subclasses say what runs."""

    cuda_cores: ClassVar[KernelModule]
    tensor_cores: ClassVar[KernelModule]
    _buffers: Buffers

    def __init__(
        self,
        float_workspace_buffer: torch.Tensor,
        kv_layout: str = "NHD",
        use_cuda_graph: bool = False,
        use_tensor_cores: bool = False,
        paged_kv_indptr_buffer: torch.Tensor | None = None,
        paged_kv_indices_buffer: torch.Tensor | None = None,
        paged_kv_last_page_len_buffer: torch.Tensor | None = None,
        backend: str = "auto",
        jit_args: list[Any] | None = None,
        *,
        variant: Variant | None = None,
    ) -> None:
        self._op = op = type(self).__name__
        check_backend(op, backend, DECODE)
        refuse_given(op, OTHER_KERNELS, jit_args=jit_args)
        self._hnd = is_hnd(op, kv_layout)
        self.device = float_workspace_buffer.device
        self._by_backend = {
            name: Attention(
                op,
                kernel,
                self.device,
                float_workspace_buffer,
                place=Place(paged=True, hnd=self._hnd),
                tensor_cores=name == "tensor_cores",
                graph=use_cuda_graph,
                variant=variant,
            )
            for name, kernel in (
                ("cuda_cores", self.cuda_cores),
                ("tensor_cores", self.tensor_cores),
            )
        }
        lent = (paged_kv_indptr_buffer, paged_kv_indices_buffer, paged_kv_last_page_len_buffer)
        buffers = dict(zip(_BUFFERS, lent, strict=True))
        self._buffers = Buffers(op, self.device, use_cuda_graph, buffers)
        self._buffers.require(*_BUFFERS)
        self._buffers.check_lengths(_BUFFERS[0])
        self._backend = backend
        self._asked = "tensor_cores" if use_tensor_cores and backend != "fa3" else backend
        self._has_variant = variant is not None
        self._graph = use_cuda_graph
        self._used = ""
        self._q_len = 1
        self._o_dtype: Dtype | None = None
        self._pages: torch.Tensor | None = None

    def plan_in_place(
        self,
        table: PageTable,
        heads: Heads,
        dtypes: StatedDtypes,
        q_len: int,
        *,
        non_blocking: bool,
        **scores: Any,
    ) -> None:
        """Plan, and leave the buffers for CUDA graphs as the caller has written them."""
        if self._graph and self._used and q_len != self._q_len:
            raise ValueError(
                f"{self._op}: argument 'q_len_per_req' is {q_len}, and {self._q_len} by the first "
                "plan() for CUDA graphs: a wrapper has one"
            )
        stated = dtypes._replace(o=self._o_dtype)
        self._plan(
            table,
            heads,
            stated,
            q_len,
            is_causal=None,
            non_blocking=non_blocking,
            copies=not self._graph,
            **scores,
        )

    @property
    def is_cuda_graph_enabled(self) -> bool:
        """Tell whether a captured run() follows later plans."""
        return self._graph

    @property
    def use_tensor_cores(self) -> bool:
        """Tell what the last plan() chose, and before it what was asked for."""
        return (self._used or self._asked) in ("tensor_cores", "fa3")

    @property
    def resolved_backend(self) -> str:
        """The word of FlashInfer for what the last plan() chose; before it, for what was asked for."""
        tall = bool(self._used) and self._attention.work.backend == "sm90"
        return "fa3" if tall or self._backend == "fa3" else "fa2"

    @property
    def _paged_kv_indices_buf(self) -> torch.Tensor | None:
        """Tensor that run() reads pages from, by FlashInfer's name: SGLang writes there for graphs."""
        return self._buffers.get("paged_kv_indices_buffer", self._pages)

    def reset_workspace_buffer(
        self, float_workspace_buffer: torch.Tensor, int_workspace_buffer: torch.Tensor
    ) -> None:
        """Use other memory from the next plan() on: for partial results, and for the list of work."""
        for attention in self._by_backend.values():
            attention.reset_workspaces(float_workspace_buffer, int_workspace_buffer)

    @property
    def _attention(self) -> Attention:
        return self._by_backend[self._used or "cuda_cores"]

    def _plan(
        self,
        table: PageTable,
        heads: Heads,
        dtypes: StatedDtypes,
        q_len: int,
        *,
        is_causal: bool | None,
        non_blocking: bool,
        copies: bool = True,
        **scores: Any,
    ) -> None:
        if is_causal not in (None, q_len > 1):
            raise NotImplementedError(
                f"{self._op}: argument 'is_causal' is {is_causal}; of several queries a request "
                "each sees the keys up to its own: BatchPrefillWithPagedKVCacheWrapper does others"
            )
        choice, work = self._work(table, heads, dtypes, q_len, scores)
        self._by_backend[choice.backend].plan(
            work, Indices("indices", table.indices), non_blocking=non_blocking
        )
        self._used, self._q_len, self._o_dtype = choice.backend, q_len, dtypes.o
        if not copies:
            self._pages = self._buffers.placed("paged_kv_indices_buffer", "indices", table.indices)
            return
        if self._graph:
            for name, value in (("indptr", table.indptr), ("last_page_len", table.last_page_len)):
                self._buffers.copy(f"paged_kv_{name}_buffer", name, value, non_blocking)
        self._pages = self._buffers.place(
            "paged_kv_indices_buffer", "indices", table.indices, torch.int32, non_blocking
        )

    def _workspace_bytes(
        self, table: PageTable, heads: Heads, dtypes: StatedDtypes, q_len: int, **scores: Any
    ) -> tuple[int, int]:
        choice, work = self._work(table, heads, dtypes, q_len, scores)
        return self._by_backend[choice.backend].workspace_bytes(work)

    def _run(
        self,
        q: torch.Tensor,
        paged_kv_cache: PagedCache,
        *,
        scales: dict[str, Number | None],
        v_scale: Number | None,
        out: torch.Tensor | None,
        lse: torch.Tensor | None,
        return_lse: bool,
        sinks: torch.Tensor | None,
        scalars: Mapping[str, float] | None,
        enable_pdl: bool | None,
        kv_cache_sf: PagedCache | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        written = lse_for_kernel(self._op, lse, q) if return_lse else None
        attention = self._attention
        out = attention.run(
            q,
            paged_kv_cache,
            out=out,
            lse=written,
            pages=self._pages,
            sinks=sinks,
            head_scales=block_scales(self._op, attention.options.kv, kv_cache_sf, self._hnd),
            scale=scale(self._op, **scales),
            v_scale=scale(self._op, v_scale=v_scale),
            scalars=scalars,
            enable_pdl=enable_pdl,
        )
        return out if written is None else (out, written)

    def _check_planned(self, window_left: int | None, q_len_per_req: int | None) -> None:
        """Refuse another window or number of queries than the list of work is made for."""
        self._attention.check_window(window_left)
        if q_len_per_req is not None and q_len_per_req != self._q_len:
            raise ValueError(
                f"{self._op}: argument 'q_len_per_req' is {q_len_per_req}, plan() was told "
                f"{self._q_len}"
            )

    def _work(
        self,
        table: PageTable,
        heads: Heads,
        dtypes: StatedDtypes,
        q_len: int,
        scores: Mapping[str, Any],
    ) -> tuple[PlannedChoice, Work]:
        """Choose the kernel, and say what it is to do."""
        chosen = self._options(heads, dtypes, q_len, scores)
        choice = self._choose(chosen, q_len)
        batch = table.lengths(self._op, q_len)
        on_tensor_cores = choice.backend == "tensor_cores"
        rows = decode_rows(
            chosen.group,
            q_len,
            chosen.head_dim,
            on_tensor_cores,
            chosen.head_dim_v,
            self.device,
            four_bits=chosen.kv is FP4,
        )
        if rows > DECODE_ROWS:
            return choice, self._tall_work(batch, chosen, q_len, choice.why)
        return choice, Work(batch, chosen, rows, False, choice.why)

    def _tall_work(self, batch: Lengths, chosen: Options, q_len: int, why: str) -> Work:
        """Choose among the kernels of prefill, as its wrappers do."""
        return prefill_work(
            self._op,
            self.device,
            "fa2" if self._backend == "fa2" else AUTO,
            batch,
            chosen,
            batch.requests * q_len,
            masked=False,
            has_variant=self._has_variant,
            why=why,
        )

    def _choose(self, chosen: Options, q_len: int) -> PlannedChoice:
        if q_len < 1:
            raise ValueError(f"{self._op}: argument 'q_len_per_req' is {q_len}; it is 1 or more")
        if self._used and self._graph:
            return PlannedChoice(self._used, "as the first plan() for CUDA graphs")
        misfit = cuda_cores_misfit(
            chosen.head_dim,
            chosen.head_dim_v,
            kv_bytes=chosen.kv.itemsize,
            rope=chosen.positions == "ROPE_LLAMA",
        )
        if chosen.kv is FP4:
            misfit = "keys of 4 bits"
        return DECODE.choose(self._op, self.device, self._asked, chosen.group, q_len, misfit)

    def _options(
        self, heads: Heads, dtypes: StatedDtypes, q_len: int, scores: Mapping[str, Any]
    ) -> Options:
        q, kv, o, both = dtypes
        if both is not None:
            # A default of q_data_type cannot be told from its being passed.
            q = both if q is None or (q == "float16" and both in _SIXTEEN_BITS) else q
            kv = both if kv is None else kv
        types = dtypes_of(self._op, "float16" if q is None else q, kv, o)
        return options(self._op, heads, types, causal=q_len > 1, **scores)
