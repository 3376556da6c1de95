"""A prefill and a batch of decoding in one call (POD): two launches behind one another."""

from __future__ import annotations

from typing import Any

import torch

from fictl.op import op

from .._arguments.cache import PagedCache
from .._arguments.dtypes import Dtype
from .._arguments.numbers import Number, scale
from .._arguments.refusals import OTHER_KERNELS, refuse_given
from .._arguments.renaming import Renaming
from ..decode.op import BatchDecodeWithPagedKVCacheWrapper
from ..prefill.op import BatchPrefillWithPagedKVCacheWrapper
from ..single.op import single_prefill_with_kv_cache

# A result, or (that, lse), of the prefill and of decoding.
Attended = torch.Tensor | tuple[torch.Tensor, torch.Tensor]

_OF_PREFILL = {name: f"{name}_p" for name in ("q", "k", "v", "custom_mask", "kv_layout")}
_OF_DECODE = {"q": "q_d", "paged_kv_cache": "paged_kv_cache_d"}
_PLANNED = "plan() says it, of decoding"


class PODWithPagedKVCacheWrapper:
    """Attention of one request that is prefilled, and of a batch that decodes, with keys in pages.

    float_workspace_buffer: memory on the GPU for partial results; 128 MiB are enough.
    kv_layout: of a page: "NHD" is (page_size, heads, dim), "HND" is (heads, page_size, dim).
    use_cuda_graph and the buffers: BatchDecodeWithPagedKVCacheWrapper's.
    jit_args: FlashInfer's own, which is refused.
    """

    def __init__(
        self,
        float_workspace_buffer: torch.Tensor,
        kv_layout: str = "NHD",
        use_cuda_graph: bool = False,
        paged_kv_indptr_buffer: torch.Tensor | None = None,
        paged_kv_indices_buffer: torch.Tensor | None = None,
        paged_kv_last_page_len_buffer: torch.Tensor | None = None,
        jit_args: list[Any] | None = None,
    ) -> None:
        self._op = type(self).__name__
        refuse_given(self._op, OTHER_KERNELS, jit_args=jit_args)
        self._layout = kv_layout
        self._decode = BatchDecodeWithPagedKVCacheWrapper(
            float_workspace_buffer,
            kv_layout,
            use_cuda_graph,
            True,
            paged_kv_indptr_buffer,
            paged_kv_indices_buffer,
            paged_kv_last_page_len_buffer,
        )

    @property
    def is_cuda_graph_enabled(self) -> bool:
        """Tell whether a captured run() follows later plans."""
        return self._decode.is_cuda_graph_enabled

    def reset_workspace_buffer(
        self, float_workspace_buffer: torch.Tensor, int_workspace_buffer: torch.Tensor
    ) -> None:
        """Use other memory from the next plan() on."""
        self._decode.reset_workspace_buffer(float_workspace_buffer, int_workspace_buffer)

    def plan(
        self,
        indptr: torch.Tensor,
        indices: torch.Tensor,
        last_page_len: torch.Tensor,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim: int,
        page_size: int,
        pos_encoding_mode: str = "NONE",
        window_left: int = -1,
        q_data_type: Dtype | None = "float16",
        kv_data_type: Dtype | None = None,
        data_type: Dtype | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        non_blocking: bool = True,
    ) -> None:
        """Share out the work of decoding, as BatchDecodeWithPagedKVCacheWrapper.plan() does."""
        self._decode.plan(
            indptr,
            indices,
            last_page_len,
            num_qo_heads,
            num_kv_heads,
            head_dim,
            page_size,
            pos_encoding_mode=pos_encoding_mode,
            window_left=window_left,
            q_data_type=q_data_type,
            kv_data_type=kv_data_type,
            data_type=data_type,
            sm_scale=sm_scale,
            rope_scale=rope_scale,
            rope_theta=rope_theta,
            non_blocking=non_blocking,
        )

    begin_forward = plan

    @op(
        archs=">=8.0",
        dtypes="f16 bf16 e4m3 e5m2",
        devices="cuda emu",
        mutates="",
        uses="BatchDecodeWithPagedKVCacheWrapper single_prefill_with_kv_cache",
    )
    def run(
        self,
        q_p: torch.Tensor,
        k_p: torch.Tensor,
        v_p: torch.Tensor,
        q_d: torch.Tensor,
        paged_kv_cache_d: PagedCache,
        custom_mask_p: torch.Tensor | None = None,
        packed_custom_mask_p: torch.Tensor | None = None,
        causal_p: bool = False,
        kv_layout_p: str = "NHD",
        pos_encoding_mode_p: str = "NONE",
        sm_scale_p: float | None = None,
        window_left_p: int = -1,
        rope_scale_p: float | None = None,
        rope_theta_p: float | None = None,
        return_lse_p: bool = False,
        custom_mask_d: torch.Tensor | None = None,
        packed_custom_mask_d: torch.Tensor | None = None,
        causal_d: bool = False,
        kv_layout_d: str = "NHD",
        pos_encoding_mode_d: str = "NONE",
        sm_scale_d: float | None = None,
        window_left_d: int = -1,
        rope_scale_d: float | None = None,
        rope_theta_d: float | None = None,
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        return_lse_d: bool = False,
        use_fp16_qk_reduction: bool = False,
        enable_pdl: bool | None = None,
    ) -> tuple[Attended, Attended]:
        """Attention of both: the results of the prefill and of decoding.

        q_p: (queries, num_qo_heads, head_dim). k_p, v_p: (keys, num_kv_heads, head_dim), or heads
            first where kv_layout_p is "HND".
        q_d: (requests, num_qo_heads, head_dim), as plan() was told. paged_kv_cache_d: keys and values
            in pages, one tensor or a tuple of two.
        causal_p and the others of `_p`: single_prefill_with_kv_cache's.
        causal_d: ignored: a request has one query. The others of `_d` are plan()'s, and refused here.
        q_scale, k_scale, v_scale: further factors of decoding.
        return_lse_p, return_lse_d: give (result, lse) in the place of a result.
        use_fp16_qk_reduction: ignored; scores are summed in fp32.
        """
        refuse_given(
            self._op,
            _PLANNED,
            custom_mask_d=custom_mask_d,
            packed_custom_mask_d=packed_custom_mask_d,
            sm_scale_d=sm_scale_d,
            rope_scale_d=rope_scale_d,
            rope_theta_d=rope_theta_d,
            pos_encoding_mode_d=pos_encoding_mode_d != "NONE",
            window_left_d=window_left_d + 1,
            kv_layout_d=kv_layout_d not in ("NHD", self._layout),
        )
        with Renaming(_OF_PREFILL):
            prefilled = single_prefill_with_kv_cache(
                q_p,
                k_p,
                v_p,
                custom_mask=custom_mask_p,
                packed_custom_mask=packed_custom_mask_p,
                causal=causal_p,
                kv_layout=kv_layout_p,
                pos_encoding_mode=pos_encoding_mode_p,
                sm_scale=sm_scale_p,
                window_left=window_left_p,
                rope_scale=rope_scale_p,
                rope_theta=rope_theta_p,
                return_lse=return_lse_p,
                enable_pdl=enable_pdl,
            )
        with Renaming(_OF_DECODE):
            decoded = self._decode.run(
                q_d,
                paged_kv_cache_d,
                q_scale=q_scale,
                k_scale=k_scale,
                v_scale=v_scale,
                return_lse=return_lse_d,
                enable_pdl=enable_pdl,
            )
        return prefilled, decoded


class BatchPODWithPagedKVCacheWrapper:
    """Attention of a batch that is prefilled, and of one that decodes, both with keys in pages.

    float_workspace_buffer: memory on the GPU for partial results; 128 MiB are enough. Both take
        turns at it.
    kv_layout: of a page: "NHD" is (page_size, heads, dim), "HND" is (heads, page_size, dim).
    """

    def __init__(self, float_workspace_buffer: torch.Tensor, kv_layout: str = "NHD") -> None:
        self._op = type(self).__name__
        self._prefill, self._decode = (
            BatchPrefillWithPagedKVCacheWrapper(float_workspace_buffer, kv_layout) for _ in range(2)
        )
        self._planned: dict[str, Any] = {}
        self._causal: bool | None = None  # of the last plan; None after one with a mask

    def plan(
        self,
        qo_indptr_p: torch.Tensor,
        kv_indptr_p: torch.Tensor,
        kv_indices_p: torch.Tensor,
        last_page_len_p: torch.Tensor,
        qo_indptr_d: torch.Tensor,
        kv_indptr_d: torch.Tensor,
        kv_indices_d: torch.Tensor,
        last_page_len_d: torch.Tensor,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim: int,
        page_size: int,
        pos_encoding_mode: str = "NONE",
        window_left: int = -1,
        q_data_type: Dtype | None = "float16",
        kv_data_type: Dtype | None = None,
        data_type: Dtype | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        non_blocking: bool = True,
    ) -> None:
        """Share out the work of both, as BatchPrefillWithPagedKVCacheWrapper.plan() does.

        data_type: an older argument, of queries and keys. The others are that one's, for the batch
        that is prefilled (`_p`), and for the one that decodes (`_d`).
        """
        shared: dict[str, Any] = {
            "num_qo_heads": num_qo_heads,
            "num_kv_heads": num_kv_heads,
            "head_dim_qk": head_dim,
            "page_size": page_size,
            "pos_encoding_mode": pos_encoding_mode,
            "window_left": window_left,
            "q_data_type": data_type or q_data_type or "float16",
            "kv_data_type": data_type or kv_data_type,
            "sm_scale": sm_scale,
            "rope_scale": rope_scale,
            "rope_theta": rope_theta,
            "non_blocking": non_blocking,
        }
        names = ("qo_indptr", "paged_kv_indptr", "paged_kv_indices", "paged_kv_last_page_len")
        prefilled = (qo_indptr_p, kv_indptr_p, kv_indices_p, last_page_len_p)
        decoded = (qo_indptr_d, kv_indptr_d, kv_indices_d, last_page_len_d)
        self._planned = {**dict(zip(names, prefilled, strict=True)), **shared}
        self._causal = None
        with Renaming(_renamed("_p")):
            self._plan_prefill(False, None, None)
        with Renaming(_renamed("_d")):
            self._decode.plan(*decoded, **shared)

    begin_forward = plan

    def _plan_prefill(
        self, causal: bool, mask: torch.Tensor | None, packed: torch.Tensor | None
    ) -> None:
        """Plan the prefill, unless it was planned for the same."""
        if mask is None and packed is None and self._causal is causal:
            return
        self._prefill.plan(
            **self._planned, causal=causal, custom_mask=mask, packed_custom_mask=packed
        )
        # A mask is planned again each time: nobody says whether its bits are others.
        self._causal = causal if mask is None and packed is None else None

    @op(
        archs=">=8.0",
        dtypes="f16 bf16 e4m3 e5m2",
        devices="cuda emu",
        mutates="",
        uses="BatchPrefillWithPagedKVCacheWrapper",
    )
    def run(
        self,
        q_p: torch.Tensor,
        paged_kv_cache_p: PagedCache,
        q_d: torch.Tensor,
        paged_kv_cache_d: PagedCache,
        custom_mask_p: torch.Tensor | None = None,
        packed_custom_mask_p: torch.Tensor | None = None,
        causal_p: bool = False,
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        return_lse: bool = False,
        use_fp16_qk_reduction: bool = False,
        enable_pdl: bool | None = None,
    ) -> tuple[Attended, Attended]:
        """Attention of both batches: the results of the prefill and of decoding.

        q_p, q_d: (queries, num_qo_heads, head_dim), as plan() was told.
        paged_kv_cache_p, paged_kv_cache_d: keys and values in pages, one tensor or a tuple of two.
        custom_mask_p, packed_custom_mask_p, causal_p: BatchPrefillWithPagedKVCacheWrapper.plan()'s,
            which plans again where they are not those of the call before.
        q_scale, k_scale, v_scale: further factors, of both.
        return_lse: give (result, lse) in the place of each result.
        use_fp16_qk_reduction: ignored; scores are summed in fp32.
        """
        if not self._planned:
            raise RuntimeError(f"{self._op}: run() was called before plan()")
        factors = {"q_scale": scale(self._op, q_scale=q_scale, k_scale=k_scale), "v_scale": v_scale}
        given: dict[str, Any] = {**factors, "return_lse": return_lse, "enable_pdl": enable_pdl}
        with Renaming(_renamed("_p")):
            self._plan_prefill(causal_p, custom_mask_p, packed_custom_mask_p)
            prefilled = self._prefill.run(q_p, paged_kv_cache_p, **given)
        with Renaming(_renamed("_d")):
            decoded = self._decode.run(q_d, paged_kv_cache_d, **given)
        return prefilled, decoded


def _renamed(end: str) -> dict[str, str]:
    """Name the arguments of a batch as its kind's are called."""
    ours = {
        "qo_indptr": "qo_indptr",
        "paged_kv_indptr": "kv_indptr",
        "paged_kv_indices": "kv_indices",
        "paged_kv_last_page_len": "last_page_len",
        "q": "q",
        "paged_kv_cache": "paged_kv_cache",
        "custom_mask": "custom_mask",
    }
    return {theirs: f"{name}{end}" for theirs, name in ours.items()}
