"""Attention of batches that mix requests of many queries with requests of few."""

from __future__ import annotations

from functools import partial

import torch

from fictl.op import op

from .._arguments.cache import PagedCache, is_hnd, keys_and_values
from .._arguments.dtypes import Dtype, dtypes_of
from .._arguments.lse import lse_for_kernel
from .._arguments.numbers import Number, scale
from .._arguments.options import Heads, Options, options
from .._arguments.refusals import refuse_given
from .._arguments.renaming import Renaming
from .._plan.attention import Attention
from .._plan.lengths import Indices, lengths
from .._plan.tensors import Place
from .._tiles import sm_count
from ..prefill.op import BatchPrefillWithPagedKVCacheWrapper
from .beside import Beside, sms_for_many
from .mixed import Part, parts

_KERNEL = BatchPrefillWithPagedKVCacheWrapper.kernel
_NAMES = ("qo_indptr", "kv_indptr", "kv_len_arr", "kv_len_arr")


class BatchAttention:
    """Attention of a batch's queries to keys in pages, whatever the requests have of them.

    Requests whose queries fit a short tile, as in decoding, are planned by themselves, for the kernel
    of such tiles; a second launch is of the others. Both run at the same time, where there are both:
    the first waits for memory, the second for tensor cores, which gets as many SMs as it can use.

    kv_layout: of a page: "NHD" is (page_size, heads, dim), "HND" is (heads, page_size, dim).
    device: of the tensors of run().
    """

    def __init__(self, kv_layout: str = "NHD", device: str | torch.device = "cuda") -> None:
        self._op = type(self).__name__
        self._hnd = is_hnd(self._op, kv_layout)
        self.device = torch.empty(0, device=device).device  # with the number of the GPU
        self._place = Place(paged=True, hnd=self._hnd)
        self._made: dict[bool, Attention] = {}
        self._running: list[Attention] = []
        self._beside = Beside(self.device)
        self._most_sms = 0  # of the requests of many queries; 0 is all
        self._chosen: Options | None = None

    def plan(
        self,
        qo_indptr: torch.Tensor,
        kv_indptr: torch.Tensor,
        kv_indices: torch.Tensor,
        kv_len_arr: torch.Tensor,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim_qk: int,
        head_dim_vo: int,
        page_size: int,
        causal: bool = False,
        sm_scale: float | None = None,
        logits_soft_cap: float | None = None,
        q_data_type: Dtype = torch.bfloat16,
        kv_data_type: Dtype = torch.bfloat16,
        use_profiler: bool = False,
    ) -> None:
        """Share out a batch's work, for any number of run().

        qo_indptr, kv_indptr: (requests + 1,), int32: where the queries, and among kv_indices the
            pages, of each request begin, and where the last ones end. On the CPU nothing is waited
            for; what is on the GPU comes in one copy.
        kv_indices: int32: the pages of all requests.
        kv_len_arr: (requests,), int32: how many keys each request has.
        head_dim_qk, head_dim_vo: sizes of a head of queries and keys, and of values.
        causal: the queries are the last of the keys, and a query sees none after its own.
        sm_scale: of the scores; None is 1 / sqrt(head_dim_qk). logits_soft_cap: keep scores within
            it; None and 0 do not.
        use_profiler: FlashInfer's own, which is refused.
        """
        refuse_given(self._op, "`fictl profile` profiles kernels", use_profiler=use_profiler)
        chosen = options(
            self._op,
            Heads(num_qo_heads, num_kv_heads, head_dim_qk, head_dim_vo),
            dtypes_of(self._op, q_data_type, kv_data_type, None),
            causal=causal,
            window_left=-1,
            soft_cap=logits_soft_cap,
            sm_scale=sm_scale,
            rope_scale=None,
            rope_theta=None,
            positions="NONE",
        )
        batch = lengths(
            self._op, kv_indptr, qo_indptr, kv_lens=kv_len_arr, page_size=page_size, names=_NAMES
        )
        indices = Indices("kv_indices", kv_indices)
        kinds = list(parts(self._op, self.device, batch, chosen))
        self._running = [self._planned(part, indices) for part in kinds]
        self._most_sms = 0
        if len(kinds) == 2:
            many, few = (part.work for part in kinds)
            self._most_sms = sms_for_many(few, many, sm_count(self.device))
        self._pages = kv_indices.to(self.device, torch.int32, non_blocking=True).contiguous()
        self._chosen = chosen

    def _planned(self, part: Part, indices: Indices) -> Attention:
        """Plan requests of one kind, on the lists that such ones had before."""
        attention = self._made.get(part.is_short)
        if attention is None:
            attention = Attention(self._op, _KERNEL, self.device, place=self._place)
            self._made[part.is_short] = attention
        attention.plan(part.work, indices)
        return attention

    @op(
        archs=">=8.0",
        dtypes="f16 bf16 e4m3 e5m2",
        devices="cuda emu",
        mutates="out lse",
        uses="BatchPrefillWithPagedKVCacheWrapper",
    )
    def run(
        self,
        q: torch.Tensor,
        kv_cache: PagedCache,
        out: torch.Tensor | None = None,
        lse: torch.Tensor | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        logits_soft_cap: float = 0.0,
        profiler_buffer: torch.Tensor | None = None,
        kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Attention of the planned batch: the result, and its lse to base 2.

        q: (queries, num_qo_heads, head_dim), as plan() was told.
        kv_cache: keys and values, (pages, 2, page_size, num_kv_heads, head_dim), or a tuple of keys
            and of values, (pages, page_size, num_kv_heads, head_dim) each; page_size stands after
            num_kv_heads where the layout is "HND".
        out: like q. lse: (queries, num_qo_heads), fp32. None allocates them.
        k_scale, v_scale: further factors, of scores and of out: numbers, or tensors of one element,
            which are waited for.
        logits_soft_cap: plan()'s, if it is given.
        profiler_buffer, kv_cache_sf: FlashInfer's own, which are refused.
        """
        if self._chosen is None:
            raise RuntimeError(f"{self._op}: run() was called before plan()")
        refuse_given(self._op, "caches of 4 bits are not here", kv_cache_sf=kv_cache_sf)
        refuse_given(self._op, "`fictl profile` profiles kernels", profiler_buffer=profiler_buffer)
        if logits_soft_cap not in (0.0, self._chosen.soft_cap):
            raise ValueError(
                f"{self._op}: argument 'logits_soft_cap' is {logits_soft_cap}, plan() was told "
                f"{self._chosen.soft_cap}; plan() again with it"
            )
        factor, v_factor = scale(self._op, k_scale=k_scale), scale(self._op, v_scale=v_scale)
        written = lse_for_kernel(self._op, lse, q)
        with Renaming({"paged_kv_cache": "kv_cache"}):
            k, v = keys_and_values(self._op, kv_cache, self._hnd)
            first, *others = [
                partial(
                    attention.run,
                    q,
                    k,
                    v,
                    lse=written,
                    pages=self._pages,
                    scale=factor,
                    v_scale=v_factor,
                )
                for attention in self._running
            ]
            if not others:
                return first(out=out), written
            if out is None:
                shape = (*q.shape[:-1], self._chosen.head_dim_v)
                out = torch.empty(shape, dtype=self._chosen.o, device=q.device)
            first, beside = partial(first, out=out, most_sms=self._most_sms), others[0]
            self._beside.run(first, partial(beside, out=out))
        return out, written
