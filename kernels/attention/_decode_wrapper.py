"""What the wrappers of decoding share: the choice of cores, and a plan for either."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from fictl.op import KernelModule

from ._arguments import (
    OTHER_KERNELS,
    Dtype,
    Number,
    Options,
    check_backend,
    dtypes_of,
    is_hnd,
    options,
    refuse_given,
    scale,
)
from ._attention import Attention
from ._buffers import Buffers
from ._cache import PagedCache, keys_and_values
from ._lengths import Indices, Lengths, lengths
from ._lse import lse_for_kernel
from ._slots import by_tensor_cores, rows_for_decode

if TYPE_CHECKING:
    from ._define_variant import Variant

_NAMES = ("q_len_per_req", "indptr", "last_page_len", "seq_lens")
_BUFFERS = ("paged_kv_indptr_buffer", "paged_kv_indices_buffer", "paged_kv_last_page_len_buffer")
_SIXTEEN_BITS = ("float16", "bfloat16", torch.float16, torch.bfloat16)

Dtypes = tuple[Dtype | None, Dtype | None, Dtype | None, Dtype | None]


class DecodeWrapper:
    """Of what `plan` and `run` of a wrapper do, all but reading their arguments."""

    def __init__(
        self,
        cuda_cores: KernelModule,
        tensor_cores: KernelModule,
        float_workspace_buffer: torch.Tensor,
        kv_layout: str,
        graph: bool,
        use_tensor_cores: bool,
        buffers: tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None],
        backend: str,
        jit_args: list[Any] | None,
        variant: Variant | None,
    ) -> None:
        self._op = op = type(self).__name__
        check_backend(op, backend)
        refuse_given(op, OTHER_KERNELS, jit_args=jit_args)
        self._hnd = is_hnd(op, kv_layout)
        self.device = float_workspace_buffer.device
        self._by = {
            on_tensor_cores: Attention(
                op,
                kernel,
                self.device,
                float_workspace_buffer,
                tensor_cores=on_tensor_cores,
                paged=True,
                hnd=self._hnd,
                graph=graph,
                variant=variant,
            )
            for on_tensor_cores, kernel in ((False, cuda_cores), (True, tensor_cores))
        }
        self._buffers = Buffers(op, self.device, graph, dict(zip(_BUFFERS, buffers, strict=True)))
        self._buffers.require(*_BUFFERS)
        self._buffers.check_lengths(_BUFFERS[0])
        self._asked, self._backend = use_tensor_cores, backend
        self._used: bool | None = None
        self._q_len = 1
        self._pages: torch.Tensor | None = None

    @property
    def is_cuda_graph_enabled(self) -> bool:
        """Whether a captured run() follows later plans."""
        return self._by[False].graph

    @property
    def use_tensor_cores(self) -> bool:
        """As the last plan() chose, and before it as was asked for."""
        return self._asked if self._used is None else self._used

    @property
    def resolved_backend(self) -> str:
        """What "auto" stands for."""
        return "fa2"

    def reset_workspace_buffer(
        self, float_workspace_buffer: torch.Tensor, int_workspace_buffer: torch.Tensor
    ) -> None:
        """Use other memory from the next plan() on: for partial results, and for the list of work."""
        for each in self._by.values():
            each.reset_workspaces(float_workspace_buffer, int_workspace_buffer)

    @property
    def _attention(self) -> Attention:
        return self._by[self.use_tensor_cores]

    def _plan(
        self,
        indptr: torch.Tensor,
        indices: torch.Tensor,
        last_page_len: torch.Tensor,
        seq_lens: torch.Tensor | None,
        page_size: int,
        heads: tuple[int, int, int],
        dtypes: Dtypes,
        q_len: int,
        is_causal: bool | None,
        non_blocking: bool,
        **said: Any,
    ) -> None:
        if is_causal not in (None, q_len > 1):
            raise NotImplementedError(
                f"{self._op}: argument 'is_causal' is {is_causal}; of several queries a request "
                "each sees the keys up to its own: BatchPrefillWithPagedKVCacheWrapper does others"
            )
        chosen = self._options(heads, dtypes, q_len, said)
        used, why = self._choose(chosen, q_len)
        batch = self._lengths(indptr, last_page_len, seq_lens, page_size, q_len)
        rows = rows_for_decode(chosen.group, q_len, chosen.head_dim, used)
        self._by[used].plan(
            batch, chosen, rows, False, Indices("indices", indices), why, non_blocking
        )
        self._used, self._q_len = used, q_len
        for name, value in (("indptr", indptr), ("last_page_len", last_page_len)):
            self._buffers.copy(f"paged_kv_{name}_buffer", name, value, non_blocking)
        self._pages = self._buffers.place(
            "paged_kv_indices_buffer", "indices", indices, torch.int32, non_blocking
        )

    def _workspace_bytes(
        self,
        indptr: torch.Tensor,
        last_page_len: torch.Tensor,
        seq_lens: torch.Tensor | None,
        page_size: int,
        heads: tuple[int, int, int],
        dtypes: Dtypes,
        q_len: int,
        **said: Any,
    ) -> tuple[int, int]:
        chosen = self._options(heads, dtypes, q_len, said)
        used, _ = self._choose(chosen, q_len)
        batch = self._lengths(indptr, last_page_len, seq_lens, page_size, q_len)
        rows = rows_for_decode(chosen.group, q_len, chosen.head_dim, used)
        return self._by[used].workspace_bytes(batch, chosen, rows, masked=False)

    def _run(
        self,
        q: torch.Tensor,
        paged_kv_cache: PagedCache,
        scales: dict[str, Number | None],
        v_scale: Number | None,
        out: torch.Tensor | None,
        lse: torch.Tensor | None,
        return_lse: bool,
        sinks: torch.Tensor | None,
        scalars: Mapping[str, float] | None,
        enable_pdl: bool | None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        k, v = keys_and_values(self._op, paged_kv_cache, self._hnd)
        written = lse_for_kernel(self._op, lse, q) if return_lse else None
        out = self._attention.run(
            q,
            k,
            v,
            out,
            written,
            self._pages,
            None,
            sinks,
            scale(self._op, **scales),
            scale(self._op, v_scale=v_scale),
            scalars,
            enable_pdl,
        )
        return out if written is None else (out, written)

    def _check_said(self, window_left: int | None, q_len_per_req: int | None) -> None:
        """A list of work is made for one window, and for one number of queries."""
        self._attention.check_window(window_left)
        if q_len_per_req is not None and q_len_per_req != self._q_len:
            raise ValueError(
                f"{self._op}: argument 'q_len_per_req' is {q_len_per_req}, plan() was told "
                f"{self._q_len}"
            )

    def _choose(self, chosen: Options, q_len: int) -> tuple[bool, str]:
        if q_len < 1:
            raise ValueError(f"{self._op}: argument 'q_len_per_req' is {q_len}; it is 1 or more")
        if self._used is not None and self.is_cuda_graph_enabled:
            return self._used, "as the first plan() for CUDA graphs"
        return by_tensor_cores(chosen.group, self._asked, self._backend, q_len)

    def _options(
        self, heads: tuple[int, int, int], dtypes: Dtypes, q_len: int, said: dict[str, Any]
    ) -> Options:
        q, kv, o, both = dtypes
        if both is not None:
            # A default of q_data_type cannot be told from its being said.
            q = both if q is None or (q == "float16" and both in _SIXTEEN_BITS) else q
            kv = both if kv is None else kv
        types = dtypes_of(self._op, "float16" if q is None else q, kv, o)
        return options(self._op, *heads, *types, causal=q_len > 1, **said)

    def _lengths(
        self,
        indptr: torch.Tensor,
        last_page_len: torch.Tensor,
        seq_lens: torch.Tensor | None,
        page_size: int,
        q_len: int,
    ) -> Lengths:
        return lengths(
            self._op,
            indptr,
            None,
            last_page_len,
            seq_lens,
            q_len=q_len,
            page_size=page_size,
            names=_NAMES,
        )
