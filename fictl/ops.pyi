# ruff: noqa: I001, N803, PYI021, RUF100
"""The ops of fictl with their types. Generated from the declarations in every op.py."""

from collections.abc import Mapping
from fictl.kernels.attention._arguments import Dtype  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.attention._arguments import Number  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.attention._cache import PagedCache  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.attention._decode_wrapper import DecodeWrapper  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.attention._define_variant import Variant  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.attention._define_variant import define_variant as define_variant  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.attention._forward import DecodeForward  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.attention._forward import PagedForward  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.attention._forward import RaggedForward  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.attention._paged_workspace_size import PagedWorkspaceSize  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.attention._prefill_wrapper import PrefillWrapper  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.attention.cascade.levels import PerLevel  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.quantization._layout import SfLayout as SfLayout  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.segment.segment_sum.op import Walk  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.topk._alias import topk as topk  # type: ignore[import-not-found, unused-ignore]
from fictl.kernels.topk._tie_break import TopKTieBreak as TopKTieBreak  # type: ignore[import-not-found, unused-ignore]
from typing import Any
import torch

class BatchDecodeWithPagedKVCacheWrapper(DecodeForward, DecodeWrapper):  # type: ignore[misc, unused-ignore]
    """Attention of the last queries of a batch's requests to keys in pages of a cache.

    float_workspace_buffer: memory on the GPU for partial results; 128 MiB are enough, but for
        plans with a small fixed_split_size.
    kv_layout: of a page: "NHD" is (page_size, heads, dim), "HND" is (heads, page_size, dim).
    use_cuda_graph: plans go to one place, for batches of as many requests, so that a captured run()
        follows the next plan() of this wrapper, which is to be kept.
    use_tensor_cores: False leaves it to the backend.
    paged_kv_indptr_buffer, paged_kv_indices_buffer, paged_kv_last_page_len_buffer: on the GPU,
        int32: plan() copies its own there where use_cuda_graph is set; indices of pages are read
        from there, for as many as there is room.
    backend: "auto" is on tensor cores, which are faster for any number of heads; "fa2" on CUDA
        cores, unless use_tensor_cores says otherwise or there are more than 3 heads to one of the
        keys, or several queries a request.
    jit_args: FlashInfer's own, which is refused.
    variant: what define_variant() made.
    """

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
    ) -> None: ...
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
        logits_soft_cap: float | None = None,
        q_data_type: Dtype | None = "float16",
        kv_data_type: Dtype | None = None,
        o_data_type: Dtype | None = None,
        data_type: Dtype | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        non_blocking: bool = True,
        block_tables: torch.Tensor | None = None,
        seq_lens: torch.Tensor | None = None,
        fixed_split_size: int | None = None,
        disable_split_kv: bool = False,
        q_len_per_req: int = 1,
        *,
        window_right: int = 0,
        is_causal: bool | None = None,
    ) -> None:
        """Share out a batch's work, for any number of run().

        indptr: (requests + 1,), int32: where the pages of each request begin among indices, and
            where the last ones end. On the CPU nothing is waited for; what is on the GPU comes in
            one copy.
        indices: int32: the pages of all requests.
        last_page_len: (requests,): how many slots of each last page are used, 1 to page_size; of a
            request without pages it is not looked at.
        q_data_type, kv_data_type, o_data_type: of queries, keys and values, and outputs; None is as
            the queries. data_type is an older one, for the first two.
        non_blocking: go on while what is on the host is copied.
        seq_lens: (requests,): how many keys each request has, in place of last_page_len.
        fixed_split_size: split keys into parts of as many pages, whatever else is in the batch, so
            that results do not depend on it.
        disable_split_kv: split none.
        q_len_per_req: queries of each request, the last of its keys; of several, each sees the keys
            up to its own.
        window_right, is_causal: only what q_len_per_req says.
        block_tables: looked at no more. The other arguments are single_decode_with_kv_cache's.
        """

    def workspace_size(
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
        logits_soft_cap: float | None = None,
        q_data_type: Dtype | None = "float16",
        kv_data_type: Dtype | None = None,
        o_data_type: Dtype | None = None,
        data_type: Dtype | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        block_tables: torch.Tensor | None = None,
        seq_lens: torch.Tensor | None = None,
        fixed_split_size: int | None = None,
        disable_split_kv: bool = False,
        q_len_per_req: int = 1,
    ) -> tuple[int, int]:
        """The bytes that plan() of the same would need: of floats, and of the list of work."""

    def run(
        self,
        q: torch.Tensor,
        paged_kv_cache: PagedCache,
        *,
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        out: torch.Tensor | None = None,
        lse: torch.Tensor | None = None,
        return_lse: bool = False,
        enable_pdl: bool | None = None,
        window_left: int | None = None,
        sinks: torch.Tensor | None = None,
        q_len_per_req: int | None = None,
        skip_softmax_threshold_scale_factor: float | None = None,
        kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None = None,
        scalars: Mapping[str, float] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Attention of the planned batch.

        q: (requests * q_len_per_req, num_qo_heads, head_dim), as plan() was told.
        paged_kv_cache: keys and values, (pages, 2, page_size, num_kv_heads, head_dim), or a tuple of
            keys and of values, (pages, page_size, num_kv_heads, head_dim) each; page_size stands
            after num_kv_heads where the layout is "HND". Pages, slots and heads at any pitch.
        out: like q. None allocates it.
        lse: (queries, num_qo_heads), fp32. None allocates it if asked for.
        window_left, q_len_per_req: plan()'s, if they are given.
        sinks: (num_qo_heads,): the logit of a key without a value.
        skip_softmax_threshold_scale_factor, kv_cache_sf: FlashInfer's own, which are refused.
        scalars: of the variant, by name. The others are single_decode_with_kv_cache's.
        """

class BatchDecodeWithSharedPrefixPagedKVCacheWrapper:
    """Attention of one query a request over keys that all share, and over the request's own.

    The shared keys are in tensors of their own. MultiLevelCascadeAttentionWrapper has them in pages.

    float_workspace_buffer: for partial results; 128 MiB are enough for most.
    kv_layout: of both, "NHD" or "HND".
    """

    def __init__(self, float_workspace_buffer: torch.Tensor, kv_layout: str = "NHD") -> None: ...
    def reset_workspace_buffer(
        self,
        float_workspace_buffer: torch.Tensor,
        int_workspace_buffer: torch.Tensor,
    ) -> None:
        """Other memory: for partial results, and for the plan."""

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
    ) -> None:
        """Share out the work on the requests' own keys, for any number of run().

        unique_kv_indptr: (requests + 1,), int32: where each one's pages begin, and the last's end.
        unique_kv_indices: the pages, int32.
        unique_kv_last_page_len: (requests,), int32: keys of the last page; 0 if there are no pages.
        data_type: of the keys. q_data_type: of the queries; None is data_type.
        """

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

class BatchPrefillWithPagedKVCacheWrapper(PagedForward, PagedWorkspaceSize, PrefillWrapper):  # type: ignore[misc, unused-ignore]
    """Attention of a batch's queries to keys in pages of a cache.

    float_workspace_buffer, use_cuda_graph, custom_mask_buf, backend, variant and what is refused are
        BatchPrefillWithRaggedKVCacheWrapper's.
    kv_layout: of a page: "NHD" is (page_size, heads, dim), "HND" is (heads, page_size, dim).
    qo_indptr_buf, paged_kv_indptr_buf, paged_kv_indices_buf, paged_kv_last_page_len_buf: on the
        GPU, int32: plan() copies its own there where use_cuda_graph is set; indices of pages are
        read from there, for as many as there is room.
    """

    def __init__(
        self,
        float_workspace_buffer: torch.Tensor,
        kv_layout: str = "NHD",
        use_cuda_graph: bool = False,
        qo_indptr_buf: torch.Tensor | None = None,
        paged_kv_indptr_buf: torch.Tensor | None = None,
        paged_kv_indices_buf: torch.Tensor | None = None,
        paged_kv_last_page_len_buf: torch.Tensor | None = None,
        custom_mask_buf: torch.Tensor | None = None,
        mask_indptr_buf: torch.Tensor | None = None,
        backend: str = "auto",
        jit_args: list[Any] | None = None,
        jit_kwargs: dict[str, Any] | None = None,
        variant_owns_mask: bool = False,
        *,
        variant: Variant | None = None,
    ) -> None: ...
    def plan(
        self,
        qo_indptr: torch.Tensor,
        paged_kv_indptr: torch.Tensor,
        paged_kv_indices: torch.Tensor,
        paged_kv_last_page_len: torch.Tensor,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim_qk: int,
        page_size: int,
        head_dim_vo: int | None = None,
        custom_mask: torch.Tensor | None = None,
        packed_custom_mask: torch.Tensor | None = None,
        causal: bool = False,
        pos_encoding_mode: str = "NONE",
        use_fp16_qk_reduction: bool = False,
        sm_scale: float | None = None,
        window_left: int = -1,
        logits_soft_cap: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        q_data_type: Dtype = "float16",
        kv_data_type: Dtype | None = None,
        o_data_type: Dtype | None = None,
        non_blocking: bool = True,
        prefix_len_ptr: torch.Tensor | None = None,
        token_pos_in_items_ptr: torch.Tensor | None = None,
        token_pos_in_items_len: int = 0,
        max_item_len_ptr: torch.Tensor | None = None,
        seq_lens: torch.Tensor | None = None,
        seq_lens_q: torch.Tensor | None = None,
        block_tables: torch.Tensor | None = None,
        max_token_per_sequence: int | None = None,
        max_sequence_kv: int | None = None,
        fixed_split_size: int | None = None,
        disable_split_kv: bool = False,
        uniform_q_len: int | None = None,
    ) -> None:
        """Share out a batch's work, for any number of run().

        qo_indptr, paged_kv_indptr: (requests + 1,), int32: where the queries, and among
            paged_kv_indices the pages, of each request begin, and where the last ones end. On the
            CPU nothing is waited for; what is on the GPU comes in one copy.
        paged_kv_indices: int32: the pages of all requests.
        paged_kv_last_page_len: (requests,): how many slots of each last page are used, 1 to
            page_size; of a request without pages it is not looked at.
        seq_lens: (requests,): how many keys each request has, in place of paged_kv_last_page_len.
        fixed_split_size: split keys into parts of as many pages, whatever else is in the batch, so
            that results do not depend on it.
        seq_lens_q, block_tables, max_token_per_sequence, max_sequence_kv: looked at no more. The
            other arguments are BatchPrefillWithRaggedKVCacheWrapper's.
        """

    def run(
        self,
        q: torch.Tensor,
        paged_kv_cache: PagedCache,
        *,
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        out: torch.Tensor | None = None,
        lse: torch.Tensor | None = None,
        return_lse: bool = False,
        lse_base: str = "log2",
        lse_layout: str = "NH",
        enable_pdl: bool | None = None,
        window_left: int | None = None,
        sinks: torch.Tensor | None = None,
        kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None = None,
        skip_softmax_threshold_scale_factor: float | None = None,
        use_fp16_softmax: bool | None = None,
        uses_spcompress: bool | None = None,
        scalars: Mapping[str, float] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Attention of the planned batch.

        q: (queries, num_qo_heads, head_dim), as plan() was told.
        paged_kv_cache: keys and values, (pages, 2, page_size, num_kv_heads, head_dim), or a tuple of
            keys and of values, (pages, page_size, num_kv_heads, head_dim) each; page_size stands
            after num_kv_heads where the layout is "HND". Pages, slots and heads at any pitch.
        window_left: plan()'s, if it is given.
        skip_softmax_threshold_scale_factor, use_fp16_softmax, uses_spcompress: FlashInfer's own,
            which are refused. The others are BatchPrefillWithRaggedKVCacheWrapper.run's.
        """

class BatchPrefillWithRaggedKVCacheWrapper(RaggedForward, PrefillWrapper):  # type: ignore[misc, unused-ignore]
    """Attention of a batch's queries to keys that lie behind one another, as the queries do.

    float_workspace_buffer: memory on the GPU for partial results; 128 MiB are enough, but for
        plans with a small fixed_split_size.
    kv_layout: of keys and values: "NHD" is (tokens, heads, dim), "HND" is (heads, tokens, dim).
    use_cuda_graph: plans go to one place, for batches of as many requests and of as many queries or
        fewer as the first, so that a captured run() follows the next plan() of this wrapper, which
        is to be kept.
    qo_indptr_buf, kv_indptr_buf: on the GPU, (requests + 1,): plan() copies its own there where
        use_cuda_graph is set.
    custom_mask_buf: uint8 on the GPU: likewise, where there are masks. mask_indptr_buf: not needed.
    backend: "auto" and "fa2" are the same.
    jit_args, jit_kwargs, variant_owns_mask: FlashInfer's own, which are refused.
    variant: what define_variant() made.
    """

    def __init__(
        self,
        float_workspace_buffer: torch.Tensor,
        kv_layout: str = "NHD",
        use_cuda_graph: bool = False,
        qo_indptr_buf: torch.Tensor | None = None,
        kv_indptr_buf: torch.Tensor | None = None,
        custom_mask_buf: torch.Tensor | None = None,
        mask_indptr_buf: torch.Tensor | None = None,
        backend: str = "auto",
        jit_args: list[Any] | None = None,
        jit_kwargs: dict[str, Any] | None = None,
        variant_owns_mask: bool = False,
        *,
        variant: Variant | None = None,
    ) -> None: ...
    def plan(
        self,
        qo_indptr: torch.Tensor,
        kv_indptr: torch.Tensor,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim_qk: int,
        head_dim_vo: int | None = None,
        custom_mask: torch.Tensor | None = None,
        packed_custom_mask: torch.Tensor | None = None,
        causal: bool = False,
        pos_encoding_mode: str = "NONE",
        use_fp16_qk_reduction: bool = False,
        window_left: int = -1,
        logits_soft_cap: float | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        q_data_type: Dtype = "float16",
        kv_data_type: Dtype | None = None,
        o_data_type: Dtype | None = None,
        non_blocking: bool = True,
        prefix_len_ptr: torch.Tensor | None = None,
        token_pos_in_items_ptr: torch.Tensor | None = None,
        token_pos_in_items_len: int = 0,
        max_item_len_ptr: torch.Tensor | None = None,
        fixed_split_size: int | None = None,
        disable_split_kv: bool = False,
        seq_lens: torch.Tensor | None = None,
        seq_lens_q: torch.Tensor | None = None,
        max_token_per_sequence: int | None = None,
        max_sequence_kv: int | None = None,
        v_indptr: torch.Tensor | None = None,
        o_indptr: torch.Tensor | None = None,
        uniform_q_len: int | None = None,
    ) -> None:
        """Share out a batch's work, for any number of run().

        qo_indptr, kv_indptr: (requests + 1,), int32: where the queries and the keys of each request
            begin, and where the last ones end. On the CPU nothing is waited for; on the GPU, one
            copy of both.
        head_dim_vo: head_dim_qk, if it is given.
        custom_mask: bool, the (queries, keys) of each request behind one another.
        packed_custom_mask: its bits, those of each request from a byte of its own on, as
            segment_packbits(..., bitorder="little") packs them.
        q_data_type, kv_data_type, o_data_type: of queries, keys and values, and outputs; None is as
            the queries.
        non_blocking: go on while what is on the host is copied.
        fixed_split_size: split keys into parts of as many, whatever else is in the batch, so that
            results do not depend on it.
        disable_split_kv: split none.
        uniform_q_len: each request has as many queries: plans for CUDA graphs then have no more
            room than that takes. Where it is not so, it is not looked at.
        seq_lens, seq_lens_q, max_token_per_sequence, max_sequence_kv: looked at no more. The other
            arguments are single_prefill_with_kv_cache's.
        """

    def run(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        *,
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        o_scale: Number | None = None,
        out: torch.Tensor | None = None,
        lse: torch.Tensor | None = None,
        return_lse: bool = False,
        lse_base: str = "log2",
        lse_layout: str = "NH",
        enable_pdl: bool | None = None,
        kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None = None,
        sinks: torch.Tensor | None = None,
        scalars: Mapping[str, float] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Attention of the planned batch.

        q: (queries, num_qo_heads, head_dim), as plan() was told.
        k, v: (keys, num_kv_heads, head_dim), or (num_kv_heads, keys, head_dim) where the layout is
            "HND"; at least as many as kv_indptr says.
        q_scale, k_scale, v_scale: further factors, of scores and of out: numbers, or tensors of
            one, which are waited for. o_scale is FlashInfer's own, and refused.
        lse_base: "log2" or "ln".
        lse_layout: "NH" is (queries, num_qo_heads), "HN" the other way round.
        sinks: (num_qo_heads,): the logit of a key without a value.
        scalars: of the variant, by name. The others are single_prefill_with_kv_cache's.
        """

class BatchPrefillWithSharedPrefixPagedKVCacheWrapper:
    """Attention of each request's queries over keys that all share, and over the request's own.

    The shared keys are in tensors of their own. MultiLevelCascadeAttentionWrapper has them in pages.

    float_workspace_buffer: for partial results; 128 MiB are enough for most.
    kv_layout: of both, "NHD" or "HND".
    """

    def __init__(self, float_workspace_buffer: torch.Tensor, kv_layout: str = "NHD") -> None: ...
    def reset_workspace_buffer(
        self,
        float_workspace_buffer: torch.Tensor,
        int_workspace_buffer: torch.Tensor,
    ) -> None:
        """Other memory: for partial results, and for the plan."""

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
    ) -> None:
        """Share out the work on the requests' own keys, for any number of run().

        qo_indptr: (requests + 1,), int32: where each one's queries begin, and the last's end.
        paged_kv_indptr: (requests + 1,), int32: the same of its pages, in paged_kv_indices.
        paged_kv_indices: the pages, int32.
        paged_kv_last_page_len: (requests,), int32: keys of the last page; 0 if there are no pages.
        kv_data_type: None is q_data_type.
        """

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
        rope_scale, rope_theta: without meaning here, where no positions are encoded.
        out: like q. None allocates it.
        """

class CUDAGraphBatchDecodeWithPagedKVCacheWrapper(BatchDecodeWithPagedKVCacheWrapper):  # type: ignore[misc, unused-ignore]
    """BatchDecodeWithPagedKVCacheWrapper with use_cuda_graph, and the tensors that it needs.

    workspace_buffer: memory on the GPU for partial results.
    indptr_buffer, indices_buffer, last_page_len_buffer: on the GPU, int32: (requests + 1,), as many
        as the requests may have pages, and (requests,).
    """

    def __init__(
        self,
        workspace_buffer: torch.Tensor,
        indptr_buffer: torch.Tensor,
        indices_buffer: torch.Tensor,
        last_page_len_buffer: torch.Tensor,
        kv_layout: str = "NHD",
        use_tensor_cores: bool = False,
    ) -> None: ...
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
        logits_soft_cap: float | None = None,
        q_data_type: Dtype | None = "float16",
        kv_data_type: Dtype | None = None,
        o_data_type: Dtype | None = None,
        data_type: Dtype | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        non_blocking: bool = True,
        block_tables: torch.Tensor | None = None,
        seq_lens: torch.Tensor | None = None,
        fixed_split_size: int | None = None,
        disable_split_kv: bool = False,
        q_len_per_req: int = 1,
        *,
        window_right: int = 0,
        is_causal: bool | None = None,
    ) -> None:
        """As BatchDecodeWithPagedKVCacheWrapper.plan."""

    def run(
        self,
        q: torch.Tensor,
        paged_kv_cache: PagedCache,
        *,
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
        out: torch.Tensor | None = None,
        lse: torch.Tensor | None = None,
        return_lse: bool = False,
        enable_pdl: bool | None = None,
        window_left: int | None = None,
        sinks: torch.Tensor | None = None,
        q_len_per_req: int | None = None,
        skip_softmax_threshold_scale_factor: float | None = None,
        kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor] | None = None,
        scalars: Mapping[str, float] | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """As BatchDecodeWithPagedKVCacheWrapper.run."""

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
    ) -> None: ...
    @property
    def is_cuda_graph_enabled(self) -> bool: ...
    def reset_workspace_buffer(
        self,
        float_workspace_buffer: torch.Tensor,
        int_workspace_buffers: PerLevel,
    ) -> None:
        """Other memory: for partial results, and for each level's plan."""

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
    ) -> None:
        """Share out the work of all levels, for any number of run().

        The first four have an entry, int32, for each level: a list of tensors, or the rows of one.
        A level has requests of its own, each of neighbouring queries: of the first level mostly a
        single one. All levels have the same queries.

        qo_indptr_arr: (requests + 1,): where each request's queries begin, and where the last end.
        paged_kv_indptr_arr: (requests + 1,): the same of its pages, in paged_kv_indices_arr.
        paged_kv_indices_arr: the pages of the level's requests.
        paged_kv_last_page_len: (requests,): keys of each request's last page; 0 if it has no pages.
        causal: in the last level, whose keys come last, a query sees none after its own.
        sm_scale: of the scores; None is 1 / sqrt(head_dim).
        """

    def run(
        self,
        q: torch.Tensor,
        paged_kv_cache: PagedCache,
        *,
        out: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Attention of the queries of the last plan() over the keys of all levels.

        q: (queries, num_qo_heads, head_dim).
        paged_kv_cache: keys and values, each (pages, page_size, num_kv_heads, head_dim) or, as HND,
            (pages, num_kv_heads, page_size, head_dim); or one tensor (pages, 2, …) of both.
        out: like q. None allocates it.
        """

class SegmentSum:
    """out[s] = input[indptr[s]:indptr[s + 1]].sum(0), rounded once from fp32; 0 without rows.

    The sum of a segment is the same, bit by bit, whatever is batched with it.

    max_rows: the first plan makes room for as many rows, and later ones, of as many segments, take
        its place: a CUDA graph of run() goes on with them. None fits the memory to each plan.
    device: where run's tensors are. None is where plan's indptr is.
    """

    def __init__(
        self,
        max_rows: int | None = None,
        device: torch.device | str | None = None,
    ) -> None: ...
    def plan(self, indptr: torch.Tensor) -> None:
        """Share out the work of the segments evenly, for any number of run().

        indptr: (segments + 1,), int32; where each segment starts, and where the last one ends. It
            is read on the host: one that is on a GPU is waited for, one on the CPU is not.
        """

    def run(
        self,
        input: torch.Tensor,
        out: torch.Tensor | None = None,
        enable_pdl: bool | None = None,
        tactic: Walk | None = None,
    ) -> torch.Tensor:
        """The sums of the segments of the last plan().

        input: (rows, dim); the elements of a row are neighbours, the rows at any pitch. At least
            as many as indptr says, or max_rows; those beyond are of no segment.
        out: (segments, dim), not in input. None allocates it.
        enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
        tactic: how to share out the work. None is the one tuned for such sizes, or the usual.
        """

def append_paged_kv_cache(
    append_key: torch.Tensor,
    append_value: torch.Tensor,
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    paged_kv_cache: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    kv_last_page_len: torch.Tensor,
    kv_layout: str = "NHD",
    *,
    enable_pdl: bool | None = None,
) -> None:
    """Copy the key and the value of every token to the slot of its position in a paged cache.

    append_key, append_value: (tokens, heads, dim), of any dtype of whole bytes; the elements of a
        head are neighbours, tokens and heads at any pitch.
    batch_indices: (tokens,), the request of each; -1 is padding, of which nothing is copied.
    positions: (tokens,), the position of each in its request.
    paged_kv_cache: keys and values, (pages, 2, page_size, heads, dim), or a tuple of keys and of
        values, (pages, page_size, heads, dim) each; of append_key's dtype, pages, slots and heads
        at any pitch. page_size stands after heads where kv_layout is "HND", and may be left out
        where it is 1.
    kv_indices: (used pages,), the pages of all requests.
    kv_indptr: (requests + 1,), where those of each request begin in it. They have room for the new
        tokens.
    kv_last_page_len: (requests,); not read. All of these are int32 or int64.
    kv_layout: "NHD" or "HND".
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def append_paged_mla_kv_cache(
    append_ckv: torch.Tensor,
    append_kpe: torch.Tensor,
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    ckv_cache: torch.Tensor | None,
    kpe_cache: torch.Tensor | None,
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    kv_last_page_len: torch.Tensor,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """Copy the latent vector and the rotated key of every token to its slot of MLA's paged caches.

    append_ckv: (tokens, ckv_dim), of any dtype of whole bytes; tokens at any pitch.
    append_kpe: (tokens, kpe_dim), likewise.
    batch_indices: (tokens,), the request of each; -1 is padding, of which nothing is copied.
    positions: (tokens,), the position of each in its request.
    ckv_cache: (pages, page_size, ckv_dim), of append_ckv's dtype; pages and slots at any pitch.
        None leaves that part out.
    kpe_cache: (pages, page_size, kpe_dim), of append_kpe's dtype, likewise.
    kv_indices: (used pages,), the pages of all requests.
    kv_indptr: (requests + 1,), where those of each request begin in it. They have room for the new
        tokens.
    kv_last_page_len: (requests,); not read. All of these are int32 or int64.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def apply_llama31_rope(
    q: torch.Tensor,
    k: torch.Tensor,
    indptr: torch.Tensor,
    offsets: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 8,
    rope_theta: float = 500000.0,
    low_freq_factor: float = 1,
    high_freq_factor: float = 4,
    old_context_len: int = 8192,
    *,
    q_out: torch.Tensor | None = None,
    k_out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate the heads of q and k by ragged segments' positions, as Llama 3.1 does.

    q: (tokens, q_heads, head_dim); the elements of a head are neighbours, tokens and heads at any
        pitch, as in a slice of packed projections.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype; k_heads may be 0.
    indptr: (segments + 1,), int32 or int64: segment i is tokens indptr[i] to indptr[i + 1]. Tokens of
        no segment stay as they are.
    offsets: (segments,), int32 or int64: the position of a segment's first token.
    rotary_dim: how many values of a head are rotated, an even number up to 512; the others are
        copied. None rotates the head.
    interleave: pairs are neighbours. Else they are a value and the one rotary_dim / 2 further on.
    rope_scale: pair i turns by f = rope_theta^(-2 i / rotary_dim) from one position to the next where
        that is at least high_freq_factor turns in old_context_len positions, by f / rope_scale where
        it is at most low_freq_factor turns, and by a mixture in between. Angles are exact at any
        position that int32 holds.
    rope_theta, low_freq_factor, high_freq_factor, old_context_len: numbers.
    q_out: like q; may be q itself. None allocates it.
    k_out: like k; may be k itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def apply_llama31_rope_inplace(
    q: torch.Tensor,
    k: torch.Tensor,
    indptr: torch.Tensor,
    offsets: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 8,
    rope_theta: float = 500000.0,
    low_freq_factor: float = 1,
    high_freq_factor: float = 4,
    old_context_len: int = 8192,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """What apply_llama31_rope does, in place.

    q: (tokens, q_heads, head_dim), at any pitch of tokens and heads.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype.
    indptr: (segments + 1,), int32 or int64.
    offsets: (segments,), int32 or int64.
    rotary_dim: how many values of a head are rotated; the others stay as they are.
    The others: as there.
    """

def apply_llama31_rope_pos_ids(
    q: torch.Tensor,
    k: torch.Tensor,
    pos_ids: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 8,
    rope_theta: float = 500000.0,
    low_freq_factor: float = 1,
    high_freq_factor: float = 4,
    old_context_len: int = 8192,
    *,
    q_out: torch.Tensor | None = None,
    k_out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate the heads of q and k by the position of each token, as Llama 3.1 does.

    q: (tokens, q_heads, head_dim); the elements of a head are neighbours, tokens and heads at any
        pitch, as in a slice of packed projections.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype; k_heads may be 0.
    pos_ids: (tokens,), int32 or int64: the position of each token.
    rotary_dim: how many values of a head are rotated, an even number up to 512; the others are
        copied. None rotates the head.
    interleave: pairs are neighbours. Else they are a value and the one rotary_dim / 2 further on.
    rope_scale: pair i turns by f = rope_theta^(-2 i / rotary_dim) from one position to the next where
        that is at least high_freq_factor turns in old_context_len positions, by f / rope_scale where
        it is at most low_freq_factor turns, and by a mixture in between. Angles are exact at any
        position that int32 holds.
    rope_theta, low_freq_factor, high_freq_factor, old_context_len: numbers.
    q_out: like q; may be q itself. None allocates it.
    k_out: like k; may be k itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def apply_llama31_rope_pos_ids_inplace(
    q: torch.Tensor,
    k: torch.Tensor,
    pos_ids: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 8,
    rope_theta: float = 500000.0,
    low_freq_factor: float = 1,
    high_freq_factor: float = 4,
    old_context_len: int = 8192,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """What apply_llama31_rope_pos_ids does, in place.

    q: (tokens, q_heads, head_dim), at any pitch of tokens and heads.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype.
    pos_ids: (tokens,), int32 or int64.
    rotary_dim: how many values of a head are rotated; the others stay as they are.
    The others: as there.
    """

def apply_rope(
    q: torch.Tensor,
    k: torch.Tensor,
    indptr: torch.Tensor,
    offsets: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 1,
    rope_theta: float = 10000.0,
    *,
    q_out: torch.Tensor | None = None,
    k_out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate the heads of q and k by ragged segments' positions.

    q: (tokens, q_heads, head_dim); the elements of a head are neighbours, tokens and heads at any
        pitch, as in a slice of packed projections.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype; k_heads may be 0.
    indptr: (segments + 1,), int32 or int64: segment i is tokens indptr[i] to indptr[i + 1]. Tokens of
        no segment stay as they are.
    offsets: (segments,), int32 or int64: the position of a segment's first token.
    rotary_dim: how many values of a head are rotated, an even number up to 512; the others are
        copied. None rotates the head.
    interleave: pairs are neighbours. Else they are a value and the one rotary_dim / 2 further on.
    rope_scale: pair i turns by rope_theta^(-2 i / rotary_dim) / rope_scale from one position to the
        next. Angles are exact at any position that int32 holds.
    rope_theta: a number.
    q_out: like q; may be q itself. None allocates it.
    k_out: like k; may be k itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def apply_rope_inplace(
    q: torch.Tensor,
    k: torch.Tensor,
    indptr: torch.Tensor,
    offsets: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 1,
    rope_theta: float = 10000.0,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """What apply_rope does, in place.

    q: (tokens, q_heads, head_dim), at any pitch of tokens and heads.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype.
    indptr: (segments + 1,), int32 or int64.
    offsets: (segments,), int32 or int64.
    rotary_dim: how many values of a head are rotated; the others stay as they are.
    The others: as there.
    """

def apply_rope_pos_ids(
    q: torch.Tensor,
    k: torch.Tensor,
    pos_ids: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 1,
    rope_theta: float = 10000.0,
    *,
    q_out: torch.Tensor | None = None,
    k_out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate the heads of q and k by the position of each token.

    q: (tokens, q_heads, head_dim); the elements of a head are neighbours, tokens and heads at any
        pitch, as in a slice of packed projections.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype; k_heads may be 0.
    pos_ids: (tokens,), int32 or int64: the position of each token.
    rotary_dim: how many values of a head are rotated, an even number up to 512; the others are
        copied. None rotates the head.
    interleave: pairs are neighbours. Else they are a value and the one rotary_dim / 2 further on.
    rope_scale: pair i turns by rope_theta^(-2 i / rotary_dim) / rope_scale from one position to the
        next. Angles are exact at any position that int32 holds.
    rope_theta: a number.
    q_out: like q; may be q itself. None allocates it.
    k_out: like k; may be k itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def apply_rope_pos_ids_inplace(
    q: torch.Tensor,
    k: torch.Tensor,
    pos_ids: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 1,
    rope_theta: float = 10000.0,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """What apply_rope_pos_ids does, in place.

    q: (tokens, q_heads, head_dim), at any pitch of tokens and heads.
    k: (tokens, k_heads, head_dim), likewise, of q's dtype.
    pos_ids: (tokens,), int32 or int64.
    rotary_dim: how many values of a head are rotated; the others stay as they are.
    The others: as there.
    """

def apply_rope_with_cos_sin_cache(
    positions: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    head_size: int,
    cos_sin_cache: torch.Tensor,
    is_neox: bool = True,
    *,
    q_out: torch.Tensor | None = None,
    k_out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate the heads of query and key by a table of cosines and sines.

    positions: (tokens,), int32 or int64: rows of cos_sin_cache.
    query: (tokens, q_heads * head_size) or (tokens, q_heads, head_size); the elements of a head are
        neighbours, tokens and heads at any pitch.
    key: (tokens, k_heads * head_size) or (tokens, k_heads, head_size), likewise, of query's dtype.
    head_size: values a head.
    cos_sin_cache: (positions, rotary_dim), contiguous fp32: in a row rotary_dim / 2 cosines, then as
        many sines. Values of a head beyond rotary_dim are copied.
    is_neox: a pair is a value and the one rotary_dim / 2 further on. Else pairs are neighbours.
    q_out: like query; may be query itself. None allocates it.
    k_out: like key; may be key itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def apply_rope_with_cos_sin_cache_inplace(
    positions: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    head_size: int,
    cos_sin_cache: torch.Tensor,
    is_neox: bool = True,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """What apply_rope_with_cos_sin_cache does, in place.

    positions: (tokens,), int32 or int64.
    query: (tokens, q_heads * head_size) or (tokens, q_heads, head_size), at any pitch.
    key: (tokens, k_heads * head_size) or (tokens, k_heads, head_size), likewise.
    cos_sin_cache: (positions, rotary_dim), contiguous fp32. Values of a head beyond rotary_dim stay
        as they are.
    The others: as there.
    """

def block_scale_interleave(
    unswizzled_sf: torch.Tensor,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Scales from linear layout to SfLayout.layout_128x4, padded with zeros.

    unswizzled_sf: (rows, blocks) or (experts, rows, blocks), uint8 or bf16, contiguous.
    out: all of the padded scales in one dimension, of its dtype. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def chain_speculative_sampling(
    draft_probs: torch.Tensor,
    draft_token_ids: torch.Tensor,
    target_probs: torch.Tensor,
    maybe_output_accepted_token_num: torch.Tensor | None = None,
    maybe_output_emitted_draft_token_num: torch.Tensor | None = None,
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Tokens distributed as the target model's own, of drafts that a cheaper model has made.

    A draft of probability p is taken where u p < q: q is the target's probability of it, u a random
    number. The first that is not taken is replaced by a token drawn from max(q - p, 0) of all
    tokens; behind a draft that was taken whole comes one drawn from the target's last row. Returned
    are out, and of each request how many drafts were taken, accepted and emitted. The same numbers
    give the same results, bit by bit, in every run, at every place in the batch and in batches of
    every size.

    draft_probs: (requests, drafts, vocab), of up to 1048576 tokens, fp32, fp16 or bf16; the
        elements of a row are neighbours. Rows need not add up to 1. NaN and what is below 0 count
        as 0 where a token is drawn, and a draft whose p or q is NaN is not taken. Where no token
        is beyond the draft's row, rounded as it is, the target's row is drawn from; of a row of
        nothing, token 0.
    draft_token_ids: (requests, drafts), int32 or int64, at any strides. A number that is no token,
        such as the -1 of a shorter draft, is not taken, and the target's row there is drawn from.
    target_probs: (requests, drafts + 1, vocab), as draft_probs. Where their dtypes differ, both
        are converted to fp32.
    maybe_output_accepted_token_num: (requests,), int32: how many drafts would be taken if each were
        looked at alone is added to it. None allocates it.
    maybe_output_emitted_draft_token_num: (requests,), int32: how many were taken before the first
        that was not is added to it. None allocates it.
    deterministic: looked at no more; it always is.
    generator: of the device. None is its default one.
    seed, offset: of the random numbers, both or neither: numbers, or int64 or uint64 tensors of one
        or of one a request, which a CUDA graph reads anew. A request with a seed of its own depends
        on nothing else in the batch; those that share one differ by their number in it. Each takes
        up to drafts + 2 numbers.
    out: (requests, drafts + 1), int32: the tokens; -1 behind the last one. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def e2m1_and_ufp8sf_scale_to_float(
    e2m1_tensor: torch.Tensor,
    ufp8_scale_tensor: torch.Tensor,
    global_scale_tensor: torch.Tensor | None = None,
    sf_vec_size: int = 16,
    ufp8_type: int = 1,
    is_sf_swizzled_layout: bool = True,
    is_sf_8x4_layout: bool = False,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """e2m1 * (scale of the block * global_scale_tensor) in fp32, on the tensors' device.

    e2m1_tensor: (..., cols / 2), uint8, the first of two values in the low half; rows at any pitch.
    ufp8_scale_tensor: the scales in their layout, uint8, contiguous, of any shape.
    global_scale_tensor: (1,), fp32: one over what nvfp4_quantize took. None is 1.
    sf_vec_size: values of a block, 16 or 32, of which cols is a multiple.
    ufp8_type: 1 for scales of e4m3, 0 for powers of two (e8m0).
    is_sf_swizzled_layout: scales as SfLayout.layout_128x4, or 8x4 if is_sf_8x4_layout; else linear.
    out: (..., cols), fp32, rows at any pitch. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def fp4_quantize(
    input: torch.Tensor,
    global_scale: torch.Tensor | None = None,
    sf_vec_size: int = 16,
    sf_use_ue8m0: bool = False,
    is_sf_swizzled_layout: bool = True,
    is_sf_8x4_layout: bool = False,
    is_global_scale_inversed: bool = False,
    enable_pdl: bool | None = None,
    backend: str = "cuda",
    nvfp4_4over6: Any = None,
    *,
    out: torch.Tensor | None = None,
    out_sf: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """nvfp4, or mxfp4: e2m1 values in blocks with a scale each, as nvfp4_quantize and mxfp4_quantize.

    input: (..., cols), fp16 or bf16, cols a multiple of sf_vec_size, rows at any pitch. Where its
        columns are contiguous, not its rows, it is quantized along them, and the results are
        transposed as well.
    global_scale: (1,), or one for each row; fp32. mxfp4 does not use it.
    sf_vec_size: 16, or 32 with sf_use_ue8m0, which makes it mxfp4.
    is_sf_swizzled_layout: scales as SfLayout.layout_128x4, or 8x4 if is_sf_8x4_layout; else linear.
    is_global_scale_inversed: global_scale is one over what nvfp4_quantize takes.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    backend: "cuda". nvfp4_4over6: None.
    out: (..., cols / 2), uint8, rows at any pitch. None allocates it.
    out_sf: all scales of the layout, uint8, contiguous. None allocates it as (rows, blocks), padded.
    """

def fused_add_rmsnorm(
    input: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-06,
    enable_pdl: bool | None = None,
) -> None:
    """residual += input, then input = residual / sqrt(mean(residual^2) + eps) * weight, from the
    sum in fp32: each is rounded once.

    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm; replaced by the result.
    residual: like input, its rows at any pitch; replaced by the sum.
    weight: (hidden,), contiguous, of input's dtype.
    eps: a number.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def fused_add_rmsnorm_quant(
    out: torch.Tensor,
    input: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    scale: float | torch.Tensor,
    eps: float = 1e-06,
    enable_pdl: bool | None = None,
) -> None:
    """residual += input, then out = residual / sqrt(mean(residual^2) + eps) * weight / scale, from
    the sum in fp32; out is the largest number of its dtype where it would be beyond that.

    out: input's shape, float8_e4m3fn or float8_e5m2; its rows at any pitch.
    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm.
    residual: like input, its rows at any pitch; replaced by the sum, rounded once.
    weight: (hidden,), contiguous, of input's dtype.
    scale: a number, or one of float32 in a tensor, which is read on the GPU.
    eps: a number.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def fused_qk_rmsnorm_rope(
    qkv: torch.Tensor,
    q_weight: torch.Tensor,
    k_weight: torch.Tensor,
    *,
    ppf: int,
    pph: int,
    ppw: int,
    num_frame_channels: int,
    num_height_channels: int,
    num_width_channels: int,
    num_heads_q: int,
    num_heads_k: int,
    num_heads_v: int,
    head_dim: int,
    eps: float = 1e-06,
    base: float = 10000.0,
    interleave: bool = True,
    factor: float = 1.0,
    low: float = 0.0,
    high: float = 0.0,
    attention_factor: float = 1.0,
    is_qk_norm: bool = True,
    output_fp8: bool = False,
    output_quant_scale: float = 1.0,
    v_quant_scale: float = 1.0,
    q_out: torch.Tensor | None = None,
    k_out: torch.Tensor | None = None,
    v_out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Normalize q and k of every token over all their heads, turn them by its place in a video.

    Results are rounded once from fp32. v is copied, so that each of the three is contiguous.

    qkv: (tokens, hidden) or (videos, tokens, hidden), contiguous; hidden is the heads of q, then
        of k, then of v. The tokens of a video are its patches: frame by frame, row by row.
    q_weight: (num_heads_q * head_dim,), of qkv's dtype.
    k_weight: (num_heads_k * head_dim,), of qkv's dtype.
    ppf: frames of a video.
    pph: rows of a frame.
    ppw: patches of a row.
    num_frame_channels: how many channels of a head turn with the frame; even.
    num_height_channels: how many, the next, turn with the row; even.
    num_width_channels: how many, the last, turn with the place in it; even.
    num_heads_q: of a token; at most 16384 elements of q, of k and of v.
    num_heads_k: of a token.
    num_heads_v: of a token.
    head_dim: 64, 128 or 256.
    eps: keeps a row of zeros finite.
    base: pair i of n channels turns by base^(-2 i / n) a step.
    interleave: two neighbours are a pair; else a channel and the one half a head further on.
    factor: YARN: slow pairs turn by 1 / factor as fast. 1 is without.
    low: YARN: up to this pair of its channels, none is slowed down.
    high: YARN: from this pair on, all are.
    attention_factor: YARN: what q and k are multiplied by; 1 without it.
    is_qk_norm: whether to normalize and to weight, or only to turn.
    output_fp8: quantize the results to float8_e4m3fn.
    output_quant_scale: then q and k are multiplied by it first.
    v_quant_scale: then v is multiplied by it first.
    q_out: (…, num_heads_q, head_dim), contiguous, where qkv is (…, hidden). None allocates it.
    k_out: the same of k.
    v_out: the same of v.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def fused_rmsnorm_silu(
    input: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-06,
    out: torch.Tensor | None = None,
    block_scale: torch.Tensor | None = None,
    *,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """silu(input / sqrt(mean(input^2) + eps) * weight) over the last dimension, rounded once.

    input: (..., hidden); the elements of a row are neighbours, the rows at one pitch. What a row
        gives does not depend on the other rows.
    weight: (hidden,), contiguous, of input's dtype.
    eps: a number.
    out: like input, or of dtype float8_e4m3fn; may be input itself. None allocates it like input.
        Or (..., hidden / 2), float4_e2m1fn_x2 or uint8, two numbers a byte, the first in its low
        half: then (out, block_scale) is returned, and the hidden size is a multiple of 16.
    block_scale: (..., hidden / 16), float8_e4m3fn: what 16 numbers of out are to be multiplied by.
        None allocates it where out needs it; otherwise it is not looked at.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def gelu_and_mul(
    input: torch.Tensor,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """gelu(input[..., :hidden]) * input[..., hidden:], rounded once from fp32.

    input: (..., 2 * hidden); the elements of a row are neighbours, the rows at any one pitch.
    out: (..., hidden), rows at any one pitch; may be input[..., :hidden] or input[..., hidden:].
        None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def gelu_tanh_and_mul(
    input: torch.Tensor,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """gelu(input[..., :hidden]) * input[..., hidden:], with gelu's approximation by tanh.

    Rounded once from fp32.

    input: (..., 2 * hidden); the elements of a row are neighbours, the rows at any one pitch.
    out: (..., hidden), rows at any one pitch; may be input[..., :hidden] or input[..., hidden:].
        None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def gemma_fused_add_rmsnorm(
    input: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-06,
    enable_pdl: bool | None = None,
) -> None:
    """residual += input, then input = residual / sqrt(mean(residual^2) + eps) * (1 + weight), from
    the sum in fp32: each is rounded once.

    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm; replaced by the result.
    residual: like input, its rows at any pitch; replaced by the sum.
    weight: (hidden,), contiguous, of input's dtype: how far each factor is from 1.
    eps: a number.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def gemma_rmsnorm(
    input: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-06,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """input / sqrt(mean(input^2) + eps) * (1 + weight) over the last dimension, rounded once from
    fp32.

    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm.
    weight: (hidden,), contiguous, of input's dtype: how far each factor is from 1.
    eps: a number.
    out: like input; may be input itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def get_batch_indices_positions(
    append_indptr: torch.Tensor,
    seq_lens: torch.Tensor,
    nnz: int,
    batch_indices: torch.Tensor | None = None,
    positions: torch.Tensor | None = None,
    *,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The request of each of nnz entries that are appended, and its position in the sequence.

    Of a request the entries are the last of its sequence. An entry that is of no request, as those
    beyond append_indptr[-1] are, has -1 and 0. Nothing is read on the host: a CUDA graph goes on
    with whatever append_indptr and seq_lens hold.

    append_indptr: (requests + 1,), int32 or int64; where the entries of each request start, and
        where the last ones end. It never falls.
    seq_lens: (requests,), int32 or int64; how long each is with its entries appended.
    nnz: a number; how many entries there is room for.
    batch_indices: (nnz,), int32. None allocates it.
    positions: (nnz,), int32. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def get_seq_lens(
    kv_indptr: torch.Tensor,
    kv_last_page_len: torch.Tensor,
    page_size: int,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """How long each request is: all of its pages are full but the last.

    kv_indptr: (requests + 1,), int32 or int64; where the pages of each request start, and where the
        last ones end.
    kv_last_page_len: (requests,), int32 or int64; how much the last page of each holds.
    page_size: a number; how much a page can hold.
    out: (requests,), int64 where one of the two is, else int32. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def layernorm(
    input: torch.Tensor,
    gemma: torch.Tensor,
    beta: torch.Tensor,
    eps: float = 1e-06,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """(input - mean) / sqrt(variance + eps) * gemma + beta over the last dimension, rounded once.

    input: (..., hidden); the elements of a row are neighbours, the rows at one pitch. What a row
        gives does not depend on the other rows.
    gemma: (hidden,), contiguous, float32: the weight, often called gamma.
    beta: (hidden,), contiguous, float32.
    eps: a number.
    out: like input; may be input itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def layernorm_quant(
    out: torch.Tensor,
    input: torch.Tensor,
    gemma: torch.Tensor,
    beta: torch.Tensor,
    scale: float | torch.Tensor,
    eps: float = 1e-06,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """What layernorm computes, divided by scale and rounded once, to fp8; the range's ends hold it.

    out: (..., hidden), float8_e4m3fn or float8_e5m2; the rows at one pitch.
    input: like out, of another dtype; the rows at one pitch.
    gemma: (hidden,), contiguous, float32: the weight, often called gamma.
    beta: (hidden,), contiguous, float32.
    scale: a number, or a float32 tensor of one, which is read on the GPU.
    eps: a number.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

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
    """v_a and v_b averaged with the weights 2^s_a and 2^s_b, and the log2 of the weights' sum.

    v is rounded once from fp32. A state whose s is -inf is of no keys: its v is not looked at. Of
    two such states, v is 0 and s is -inf.

    v_a, v_b: (positions, heads, head_dim): what attention gives of either part of the keys. The
        elements of a row are neighbours, the rows at one distance.
    s_a, s_b: (positions, heads), contiguous: log2 of the sum of the exponentials. fp32; other
        floating-point types are converted.
    v_merged: like v_a; may be v_a or v_b. None allocates it.
    s_merged: (positions, heads), fp32; may be s_a or s_b. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def merge_state_in_place(
    v: torch.Tensor,
    s: torch.Tensor,
    v_other: torch.Tensor,
    s_other: torch.Tensor,
    mask: torch.Tensor | None = None,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """merge_state of (v, s) and (v_other, s_other), written over v and s.

    v, v_other: (positions, heads, head_dim); the elements of a row are neighbours, the rows at one
        distance.
    s, s_other: (positions, heads), contiguous; s is fp32, s_other is converted to it.
    mask: (positions,), bool or uint8: where it is 0, v and s stay as they are. None merges all.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def merge_states(
    v: torch.Tensor,
    s: torch.Tensor,
    *,
    v_merged: torch.Tensor | None = None,
    s_merged: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """merge_state of any number of states: v averaged with the weights 2^s, and their log2.

    v: (positions, states, heads, head_dim); the elements of a row are neighbours, the rows at one
        distance.
    s: (positions, states, heads), contiguous. fp32; other floating-point types are converted.
    v_merged: (positions, heads, head_dim), of v's dtype. None allocates it.
    s_merged: (positions, heads), fp32. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def min_p_sampling_from_probs(
    probs: torch.Tensor,
    min_p: torch.Tensor | float,
    indices: torch.Tensor | None = None,
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    return_valid: bool = False,
    *,
    out: torch.Tensor | None = None,
    valid: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """A token from those of each row that are at least min_p times as likely as the likeliest.

    The other arguments are sampling_from_probs's.

    probs: (rows, vocab), as of sampling_from_probs.
    min_p: a number, or (rows,): one for each row of probs. 0 and below keeps all, 1 and above, or
        where the tensor has NaN, only the likeliest.
    """

def mla_rope_quantize_fp8(
    q_rope: torch.Tensor,
    k_rope: torch.Tensor,
    q_nope: torch.Tensor | None,
    k_nope: torch.Tensor | None,
    cos_sin_cache: torch.Tensor,
    pos_ids: torch.Tensor,
    is_neox: bool = True,
    quantize_dtype: torch.dtype | None = None,
    quant_scale_q: float = 1.0,
    quant_scale_kv: float = 1.0,
    q_rope_out: torch.Tensor | None = None,
    k_rope_out: torch.Tensor | None = None,
    q_nope_out: torch.Tensor | None = None,
    k_nope_out: torch.Tensor | None = None,
    enable_pdl: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """rope_quantize_fp8 of MLA, whose queries share one key.

    q_rope: (tokens, qo_heads, rope_dim).
    k_rope: (tokens, rope_dim).
    q_nope: (tokens, qo_heads, nope_dim) or None.
    k_nope: (tokens, nope_dim) or None.
    All else is as in rope_quantize_fp8.
    """

def mxfp4_dequantize(
    a_fp4: torch.Tensor,
    a_sf: torch.Tensor,
    sfLayout: SfLayout = ...,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """What mxfp4_quantize has made, in fp32, on the tensors' device.

    a_fp4: (..., cols / 2), uint8, cols a multiple of 32, rows at any pitch.
    a_sf: the scales in their layout, uint8, contiguous, of any shape.
    sfLayout: of the scales.
    out: (..., cols), fp32, rows at any pitch. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def mxfp4_quantize(
    a: torch.Tensor,
    backend: str = "cuda",
    enable_pdl: bool | None = None,
    sfLayout: SfLayout = ...,
    *,
    out: torch.Tensor | None = None,
    out_sf: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """e2m1 values in blocks of 32 and a power of two for each: value = e2m1 * 2^(scale - 127).

    The scale is the least that keeps the block's largest value within 6. NaN in a block makes all of
    it NaN.

    a: (..., cols), fp16 or bf16, cols a multiple of 32, rows at any pitch.
    backend: "cuda".
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    sfLayout: of the scales.
    out: (..., cols / 2), uint8, the first of two values in the low half; rows at any pitch. None
        allocates it.
    out_sf: all scales of the layout, uint8, contiguous. None allocates it as (rows, blocks), padded.
    """

def mxfp8_dequantize(
    input: torch.Tensor,
    scale_tensor: torch.Tensor,
    is_sf_swizzled_layout: bool = True,
    sf_swizzle_layout: SfLayout | None = None,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """What mxfp8_quantize has made, in fp32.

    input: (..., cols), e4m3 or its bytes, cols a multiple of 32, rows at any pitch.
    scale_tensor: the scales in their layout, uint8, contiguous, of any shape.
    is_sf_swizzled_layout: scales as SfLayout.layout_128x4, else linear.
    sf_swizzle_layout: goes before is_sf_swizzled_layout.
    out: like input, but fp32; rows at any pitch. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def mxfp8_quantize(
    input: torch.Tensor,
    is_sf_swizzled_layout: bool = True,
    alignment: int = 32,
    enable_pdl: bool | None = None,
    backend: str = "cuda",
    sf_swizzle_layout: SfLayout | None = None,
    *,
    out: torch.Tensor | None = None,
    out_sf: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """e4m3 values in blocks of 32 and a power of two for each: value = e4m3 * 2^(scale - 127).

    The scale is the least that keeps the block's largest value within 448. NaN in a block makes all
    of it NaN.

    input: (..., cols), fp16 or bf16, cols a multiple of 32, rows at any pitch.
    is_sf_swizzled_layout: scales as SfLayout.layout_128x4, else linear.
    alignment: a multiple of 32; rows of the result are padded to one of it, with zeros.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    backend: "cuda".
    sf_swizzle_layout: goes before is_sf_swizzled_layout.
    out: (..., cols padded), e4m3, rows at any pitch. None allocates it.
    out_sf: all scales of the layout, uint8, contiguous. None allocates it, in one dimension.
    """

def nvfp4_quantize(
    a: torch.Tensor,
    a_global_sf: torch.Tensor,
    sfLayout: SfLayout = ...,
    do_shuffle: bool = False,
    sf_vec_size: int = 16,
    enable_pdl: bool | None = None,
    backend: str = "cuda",
    per_token_activation: bool = False,
    expanded_idx_to_permuted_idx: torch.Tensor | None = None,
    out_scale: torch.Tensor | None = None,
    nvfp4_4over6: Any = None,
    *,
    out: torch.Tensor | None = None,
    out_sf: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """e2m1 values in blocks of 16 and an e4m3 scale for each: value = e2m1 * scale / a_global_sf.

    The scale is a_global_sf / 6 times the block's largest value, rounded to e4m3; the values are
    those of `a` over scale / a_global_sf, rounded to e2m1. All of it is fp32, step by step. NaN in
    a block makes all of it NaN.

    a: (..., cols), fp16 or bf16, cols a multiple of 16, rows at any pitch.
    a_global_sf: (1,), or one for each row; fp32: 448 * 6 / a.abs().max().
    sfLayout: of the scales.
    do_shuffle: False. sf_vec_size: 16. backend: "cuda". per_token_activation: False.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    expanded_idx_to_permuted_idx, out_scale, nvfp4_4over6: None.
    out: (..., cols / 2), uint8, the first of two values in the low half; rows at any pitch. None
        allocates it.
    out_sf: all scales of the layout, uint8, contiguous. None allocates it as (rows, blocks), padded.
    """

def packbits(
    x: torch.Tensor,
    bitorder: str = "big",
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Eight elements of x in each byte, as numpy.packbits makes them; what is missing is 0.

    x: (elements,), contiguous; of another dtype than bool, what is not 0 is 1.
    bitorder: 'big' makes the first of eight elements the highest bit, 'little' the lowest.
    out: (ceil(elements / 8),), uint8. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def per_tensor_quant_fp8(
    x: torch.Tensor,
    scale: torch.Tensor | None = None,
    *,
    dst_dtype: torch.dtype | None = None,
    out: torch.Tensor | None = None,
    out_scale: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(x / scale, scale), where scale is given or max(largest |x|, 1e-10) / largest of dst_dtype.

    Rounded once from fp32, to the nearest; what a given scale leaves beyond the range becomes its
    end. A NaN in x makes a scale that is not given NaN, and all of out.

    x: any shape; dense in any order of its dimensions.
    scale: one number in an fp32 tensor, which the kernel reads. None finds it in x.
    dst_dtype: float8_e4m3fn or float8_e5m2. None is out's, or float8_e4m3fn.
    out: like x, of dst_dtype. None allocates it.
    out_scale: (1,), fp32. None allocates it, or is scale.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def per_token_group_quant_8bit(
    x: torch.Tensor,
    group_size: int,
    eps: float = 1e-10,
    dst_dtype: torch.dtype | None = None,
    column_major_scales: bool = False,
    scale_tma_aligned: bool = False,
    scale_ue8m0: bool = False,
    backend: str = "auto",
    *,
    out: torch.Tensor | None = None,
    scales: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(x / scales, scales), where a scale is max(largest |x| of a group, eps) / largest of dst_dtype.

    Rounded once from fp32, to the nearest; ties of int8 to the even one. A group with a NaN is NaN
    and has that scale.

    x: (..., hidden), in groups of group_size neighbours; the rows at one distance.
    group_size: any number that divides hidden; with 32, 64, 128 and 256 it is fastest.
    eps: keeps the scale of a group of zeros from being 0.
    dst_dtype: float8_e4m3fn, float8_e5m2 or int8. None is out's, or float8_e4m3fn.
    column_major_scales: of x of two dimensions, allocate scales so that those of one column of
        groups are neighbours. Their shape is the same.
    scale_tma_aligned: allocate such columns at a multiple of 16 bytes from one another.
    scale_ue8m0: round scales up to a power of two.
    backend: auto; cuda and FlashInfer's cutile are the same.
    out: like x, of dst_dtype; the rows at one distance. None allocates it.
    scales: (..., hidden / group_size), fp32; of two dimensions, rows or columns at any distance.
        None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def rmsnorm(
    input: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-06,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """input / sqrt(mean(input^2) + eps) * weight over the last dimension, rounded once from fp32.

    input: (rows, hidden) or (tokens, heads, hidden); the elements of a row are neighbours, the
        rows at any pitch. What a row gives does not depend on the other rows.
    weight: (hidden,), contiguous, of input's dtype.
    eps: a number.
    out: like input; may be input itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def rmsnorm_quant(
    out: torch.Tensor,
    input: torch.Tensor,
    weight: torch.Tensor,
    scale: float | torch.Tensor,
    eps: float = 1e-06,
    enable_pdl: bool | None = None,
) -> None:
    """out = input / sqrt(mean(input^2) + eps) * weight / scale, rounded once from fp32, and the
    largest number of its dtype where it is beyond that.

    out: input's shape, float8_e4m3fn or float8_e5m2; its rows at any pitch.
    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm.
    weight: (hidden,), contiguous, of input's dtype.
    scale: a number, or one of float32 in a tensor, which is read on the GPU.
    eps: a number.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def rope_quantize_fp8(
    q_rope: torch.Tensor,
    k_rope: torch.Tensor,
    q_nope: torch.Tensor | None,
    k_nope: torch.Tensor | None,
    cos_sin_cache: torch.Tensor,
    pos_ids: torch.Tensor,
    is_neox: bool = True,
    quantize_dtype: torch.dtype | None = None,
    quant_scale_q: float = 1.0,
    quant_scale_kv: float = 1.0,
    q_rope_out: torch.Tensor | None = None,
    k_rope_out: torch.Tensor | None = None,
    q_nope_out: torch.Tensor | None = None,
    k_nope_out: torch.Tensor | None = None,
    enable_pdl: bool = False,
    backend: str = "cuda",
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rotate the rotary parts of queries and keys; make fp8 of all parts, times a scale.

    q_rope: (tokens, qo_heads, rope_dim); the elements of a head are neighbours, tokens and heads
        at any pitch.
    k_rope: (tokens, kv_heads, rope_dim), or (tokens, rope_dim) for MLA; of q_rope's dtype.
    q_nope, k_nope: what is not rotated, (..., nope_dim) likewise; None is a nope_dim of 0.
    cos_sin_cache: (positions, rope_dim), float32; the cosines of a position, then the sines.
    pos_ids: (tokens,), int32 or int64.
    is_neox: pairs are at the same places of both halves of rope_dim, else they are neighbours.
    quantize_dtype: float8_e4m3fn or float8_e5m2. None is that of the outputs given, or the first.
    quant_scale_q, quant_scale_kv: numbers; what is beyond fp8 becomes the largest there is.
    q_rope_out, k_rope_out, q_nope_out, k_nope_out: like their inputs, in fp8. None allocates them.
    enable_pdl: start while the stream's previous kernel ends, where the GPU can.
    backend: "cuda".
    """

def rope_quantize_fp8_append_paged_kv_cache(
    q_rope: torch.Tensor,
    k_rope: torch.Tensor,
    q_nope: torch.Tensor | None,
    k_nope: torch.Tensor | None,
    v: torch.Tensor | None,
    cos_sin_cache: torch.Tensor,
    pos_ids: torch.Tensor,
    paged_kv_cache: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    is_neox: bool = True,
    quantize_dtype: torch.dtype | None = None,
    quant_scale_q: float = 1.0,
    quant_scale_kv: float = 1.0,
    page_size: int = 16,
    kv_layout: str = "NHD",
    q_rope_out: torch.Tensor | None = None,
    q_nope_out: torch.Tensor | None = None,
    enable_pdl: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """rope_quantize_fp8 whose keys, and the values, go to their slots of a paged cache.

    q_rope, k_rope, q_nope, k_nope, cos_sin_cache, pos_ids, is_neox: as in rope_quantize_fp8.
    v: (tokens, kv_heads, dim), times quant_scale_kv; None for MLA.
    paged_kv_cache: a tuple of keys and of values, (pages, page_size, kv_heads, dim) each, where
        the dim of keys is rope_dim + nope_dim; or one tensor, (pages, 2, page_size, kv_heads, dim).
        page_size stands after kv_heads where kv_layout is "HND". For MLA a tuple of ckv_cache,
        (pages, page_size, nope_dim), and kpe_cache, (pages, page_size, rope_dim). In fp8.
    kv_indices: (used pages,), the pages of all requests.
    kv_indptr: (requests + 1,), where those of each request begin in it. They have room for the new
        tokens.
    batch_indices: (tokens,), the request of each; -1 is padding, of which nothing is written.
    positions: (tokens,), the position of each in its request. These four are int32 or int64.
    quantize_dtype: float8_e4m3fn or float8_e5m2. None is that of the outputs given, or the first.
    quant_scale_q, quant_scale_kv: numbers; what is beyond fp8 becomes the largest there is.
    page_size: slots a page.
    kv_layout: "NHD" or "HND".
    q_rope_out, q_nope_out: like their inputs, in fp8. None allocates them.
    enable_pdl: start while the stream's previous kernel ends, where the GPU can.
    """

def sampling_from_logits(
    logits: torch.Tensor,
    indices: torch.Tensor | None = None,
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """A token of each row, drawn from the softmax of its logits, which is never written down.

    One random number a row chooses by the cumulative sum of the probabilities. A NaN counts as
    -inf, which is never drawn beside other numbers; where there is a +inf, one of these is drawn. A
    row of -inf alone gives 0.

    logits: (rows, vocab), of up to 2^20 elements a row; the elements of a row are neighbours, the
        rows at any pitch. 16-bit ones are read as they are.
    indices: (batch,), int32 or int64: the row that each token is drawn from. None draws one from
        every row. A row that there is not gives 0.
    deterministic: it always is, bit by bit. Here for FlashInfer's callers.
    generator: where the random numbers come from; None takes that of the device. A call moves it
        on by batch * vocab numbers, as FlashInfer's does.
    check_nan: refuse logits with a NaN, which waits for the GPU.
    seed, offset: in place of a generator, both or none: numbers, or tensors of int64 or uint64 with
        one for all tokens or one for each. Tokens that share a seed draw from the streams of their
        numbers in the batch; one with a seed of its own draws the same wherever it is.
    out: (batch,), int32 or int64. None allocates it with indices' dtype, or int32.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def sampling_from_probs(
    probs: torch.Tensor,
    indices: torch.Tensor | None = None,
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    return_valid: bool = False,
    *,
    out: torch.Tensor | None = None,
    valid: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """A token from each row, as likely as its probability says.

    The same numbers give the same tokens, bit by bit, in every run, at every place in the batch and
    in batches of every size.

    probs: (rows, vocab), of up to 1048576 tokens, fp32, fp16 or bf16, rows at any pitch. They need
        not add up to 1. NaN and what is below 0 count as 0; a row of nothing else draws 0.
    indices: (batch,), int32 or int64: the row that each draw is from. None is one of each row.
    deterministic: looked at no more; it always is.
    generator: of the device. None is its default one.
    check_nan: refuse NaN, for which the GPU is waited for.
    seed, offset: of the random numbers, both or neither: numbers, or int64 or uint64 tensors of one
        or of one a draw, which a CUDA graph reads anew. A draw with a seed of its own depends on
        nothing else in the batch; those that share one differ by their number in it.
    return_valid: return (out, valid).
    out: (batch,), int32 or int64. None allocates it with indices' dtype, or int32.
    valid: (batch,), bool: whether the row had anything to draw. None allocates it if asked for.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def scale(input: torch.Tensor, factor: float, out: torch.Tensor | None = None) -> torch.Tensor:
    """input * factor, rounded once from fp32.

    input: any shape; dense in any order of its dimensions, or rows at a regular pitch.
    factor: a number.
    out: like input; may be input itself. None allocates it.
    """

def segment_packbits(
    x: torch.Tensor,
    indptr: torch.Tensor,
    bitorder: str = "big",
    *,
    out: torch.Tensor | None = None,
    out_indptr: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """packbits of every segment x[indptr[i]:indptr[i + 1]]; (out, out_indptr).

    The bytes of segment i are out[out_indptr[i]:out_indptr[i + 1]].

    x: (elements,), contiguous; of another dtype than bool, what is not 0 is 1.
    indptr: (segments + 1,), int32 or int64, where x is; where each segment starts, and where the
        last one ends. It never falls.
    bitorder: 'big' makes the first of eight elements the highest bit, 'little' the lowest.
    out: (bytes,), uint8; at least out_indptr[-1], and no byte beyond that is written. None
        allocates it, and waits for the GPU to know how many: (elements + 7 * segments) // 8 are
        always enough.
    out_indptr: (segments + 1,), int32. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def silu_and_mul(
    input: torch.Tensor,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """silu(input[..., :hidden]) * input[..., hidden:], rounded once from fp32.

    input: (..., 2 * hidden); the elements of a row are neighbours, the rows at any one pitch.
    out: (..., hidden), rows at any one pitch; may be input[..., :hidden] or input[..., hidden:].
        None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def single_decode_with_kv_cache(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    kv_layout: str = "NHD",
    pos_encoding_mode: str = "NONE",
    use_tensor_cores: bool = False,
    q_scale: Number | None = None,
    k_scale: Number | None = None,
    v_scale: Number | None = None,
    window_left: int = -1,
    logits_soft_cap: float | None = None,
    sm_scale: float | None = None,
    rope_scale: float | None = None,
    rope_theta: float | None = None,
    return_lse: bool = False,
    *,
    out: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    variant: Variant | None = None,
    scalars: Mapping[str, float] | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attention of one query, whose key is the last.

    q: (num_qo_heads, head_dim), fp16 or bf16; head_dim is 64, 128 or 256. Of this, k, v and out,
        the elements of a head are neighbours; tokens and heads are at any pitch.
    k, v: (kv_len, num_kv_heads, head_dim), or the first two the other way round where kv_layout is
        "HND"; of q's dtype, or fp8. num_qo_heads is a multiple of num_kv_heads.
    use_tensor_cores: looked at no more; they are faster for any number of heads.
    q_scale, k_scale, v_scale: further factors, of scores and of out: numbers, or tensors of one,
        which are waited for.
    return_lse: return (out, lse).
    out: like q. None allocates it.
    lse: (num_qo_heads,), fp32. None allocates it if asked for. The other arguments are
        single_prefill_with_kv_cache's.
    """

def single_prefill_with_kv_cache(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale_q: torch.Tensor | None = None,
    scale_k: torch.Tensor | None = None,
    scale_v: torch.Tensor | None = None,
    o_dtype: torch.dtype | None = None,
    custom_mask: torch.Tensor | None = None,
    packed_custom_mask: torch.Tensor | None = None,
    causal: bool = False,
    kv_layout: str = "NHD",
    pos_encoding_mode: str = "NONE",
    use_fp16_qk_reduction: bool = False,
    sm_scale: float | None = None,
    window_left: int = -1,
    logits_soft_cap: float | None = None,
    rope_scale: float | None = None,
    rope_theta: float | None = None,
    backend: str = "auto",
    return_lse: bool = False,
    kv_cache_sf: tuple[torch.Tensor, torch.Tensor] | None = None,
    k_scale: Number | None = None,
    v_scale: Number | None = None,
    *,
    out: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    variant: Variant | None = None,
    scalars: Mapping[str, float] | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attention of one request's queries, which are the last of its keys; of no keys it is 0.

    q: (qo_len, num_qo_heads, head_dim), fp16 or bf16; head_dim is 64, 128 or 256. Of this, k, v and
        out, the elements of a head are neighbours; tokens and heads are at any pitch.
    k, v: (kv_len, num_kv_heads, head_dim), or the first two the other way round where kv_layout is
        "HND"; of q's dtype, or fp8. num_qo_heads is a multiple of num_kv_heads.
    scale_q, scale_k, scale_v: of fp8 queries, which are not taken.
    o_dtype: fp16 or bf16. None is q's.
    custom_mask: (qo_len, kv_len), bool: which keys each query sees, whatever causal says.
    packed_custom_mask: its bits, as packbits(custom_mask.view(-1), "little") packs them.
    causal: a query sees no keys after its own.
    pos_encoding_mode: "NONE"; "ROPE_LLAMA", by which queries and keys are rotated; or "ALIBI".
    use_fp16_qk_reduction: looked at no more; scores are added up in fp32.
    sm_scale: of scores before the softmax. None is head_dim^-0.5.
    window_left: how many keys before its own a query sees. -1 is all.
    logits_soft_cap: scores s become cap * tanh(s / cap). None or 0 leaves them.
    rope_scale, rope_theta: 1 and 10000 where they are not given.
    backend: "auto" and "fa2" are the same.
    return_lse: return (out, lse).
    k_scale, v_scale: further factors of scores and of out: numbers, or tensors of one, which are
        waited for.
    out: like q. None allocates it.
    lse: (qo_len, num_qo_heads), fp32: log2 of the sum of the exponentials; -inf where a query sees
        no key. None allocates it if asked for.
    sinks: (num_qo_heads,): the logit of a key without a value.
    variant: what define_variant() made, and `scalars` its values by name.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def single_prefill_with_kv_cache_return_lse(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale_q: torch.Tensor | None = None,
    scale_k: torch.Tensor | None = None,
    scale_v: torch.Tensor | None = None,
    o_dtype: torch.dtype | None = None,
    custom_mask: torch.Tensor | None = None,
    packed_custom_mask: torch.Tensor | None = None,
    causal: bool = False,
    kv_layout: str = "NHD",
    pos_encoding_mode: str = "NONE",
    use_fp16_qk_reduction: bool = False,
    sm_scale: float | None = None,
    window_left: int = -1,
    logits_soft_cap: float | None = None,
    rope_scale: float | None = None,
    rope_theta: float | None = None,
    backend: str = "auto",
    *,
    return_lse: bool = True,
    kv_cache_sf: tuple[torch.Tensor, torch.Tensor] | None = None,
    k_scale: Number | None = None,
    v_scale: Number | None = None,
    out: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    variant: Variant | None = None,
    scalars: Mapping[str, float] | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """single_prefill_with_kv_cache, returning (out, lse)."""

def softmax(
    logits: torch.Tensor,
    temperature: torch.Tensor | float | None = None,
    enable_pdl: bool | None = None,
    *,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """exp(logits / temperature) over its sum along each row, in fp32 whatever logits are.

    A row gives the same bit by bit wherever it is in whichever batch. As torch.softmax, a row with
    a NaN or a +inf, or of -inf alone, gives NaN everywhere; -inf beside finite numbers gives 0.

    logits: (rows, vocab), of up to 2^20 elements a row; the elements of a row are neighbours, the
        rows at any pitch. 16-bit ones are read as they are.
    temperature: a number for all rows, or (rows,) of a floating-point type, one for each. None is
        1. With 0 all finite logits of the row are equally likely, as with an infinite one, and
        infinite ones make it NaN.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    out: like logits, of float32; may be logits themselves. None allocates it.
    """

def swiglu(x: torch.Tensor, gate: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """x * sigmoid(gate), rounded once from fp32.

    x: any shape; dense in any order of its dimensions, or rows at a regular pitch.
    gate: like x.
    out: like x; may be an input itself. None allocates it.
    """

def top_k(
    input: torch.Tensor,
    k: int,
    sorted: bool = False,
    deterministic: bool = False,
    tie_break: int = ...,
    dsa_graph_safe: bool = False,
    *,
    values: torch.Tensor | None = None,
    indices: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The k largest elements of every row, and their indices: (values, indices).

    NaN is above +inf, as for torch.topk; zeros of either sign are equal. A zero among the values is
    positive. -inf is an element as any other. Which elements are chosen is always the same.

    input: (rows, cols); the elements of a row are neighbours, the rows at one distance.
    k: how many, from 0 to cols.
    sorted: the largest first, equal ones in the order of their indices.
    deterministic: the same order in every run and batch: without `sorted`, that of the indices.
    tie_break: which of equal elements are chosen where not all are: a TopKTieBreak. NONE does as
        SMALL does.
    dsa_graph_safe: changes nothing: a CUDA graph may always capture the op.
    values: (rows, k), of input's dtype. None allocates it.
    indices: (rows, k), int64. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def top_k_mask_logits(
    logits: torch.Tensor,
    top_k: torch.Tensor | int,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """The top_k largest logits; -inf for the others.

    A logit is kept if fewer than top_k are larger: equals of the last are kept together.

    logits: (rows, vocab), of up to 1048576 tokens, fp32, fp16 or bf16, rows at any pitch. NaN
        counts as -inf, and becomes it.
    top_k: a number, or (rows,) of int32 or int64. From vocab on it keeps all, and so does what is
        below 1, by which engines mean that there is no limit.
    out: like logits, of its dtype, rows at any pitch; may be logits itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def top_k_page_table_transform(
    input: torch.Tensor,
    src_page_table: torch.Tensor,
    lengths: torch.Tensor,
    k: int,
    row_to_batch: torch.Tensor | None = None,
    deterministic: bool = False,
    tie_break: int = ...,
    dsa_graph_safe: bool = False,
    row_starts: torch.Tensor | None = None,
    page_table_row_starts: torch.Tensor | None = None,
    *,
    page_size: int = 1,
    out: torch.Tensor | None = None,
    out_raw_indices: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Where the k largest scores of every row are in the pages of a cache.

    Index i of row r is at src_page_table[r, i // page_size] * page_size + i % page_size. A row of
    no more than k scores gives all of them, in their order. What is missing of k is -1, and so is
    what the page table has no entry for. Scores are compared as top_k does.

    input: (rows, max_len): scores; the elements of a row are neighbours, the rows at one distance.
    src_page_table: (batch_size, pages), int32; the entries of a row are neighbours.
    lengths: (rows,), int32 or int64: the scores that count, the first ones of a row. What goes
        beyond the row does not.
    k: how many; may be more than max_len.
    row_to_batch: (rows,), int32 or int64: the row of src_page_table for each row. None is its own.
    deterministic: the same order in every run and batch: that of the indices.
    tie_break: which of equal scores are chosen where not all are: a TopKTieBreak. NONE does as
        SMALL does.
    dsa_graph_safe: changes nothing: a CUDA graph may always capture the op.
    row_starts: (rows,), int32 or int64: where the scores of a row start, from which indices count.
        None is 0.
    page_table_row_starts: (rows,), int32 or int64: where the entries of a row start. None is
        row_starts, and for a page_size above 1 must not be where row_starts is given.
    page_size: scores a page, a power of two.
    out: (rows, k), int32. None allocates it.
    out_raw_indices: (rows, k), int32: takes the indices themselves, and -1 where there is none.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def top_k_ragged_transform(
    input: torch.Tensor,
    offsets: torch.Tensor,
    lengths: torch.Tensor,
    k: int,
    deterministic: bool = False,
    tie_break: int = ...,
    dsa_graph_safe: bool = False,
    row_starts: torch.Tensor | None = None,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Where the k largest scores of every row are in a ragged batch: their indices and an offset.

    A row of no more than k scores gives all of them, in their order. What is missing of k is -1.
    Scores are compared as top_k does.

    input: (rows, max_len): scores; the elements of a row are neighbours, the rows at one distance.
    offsets: (rows,), int32 or int64: what is added to each index of a row.
    lengths: (rows,), int32 or int64: the scores that count, the first ones of a row. What goes
        beyond the row does not.
    k: how many; may be more than max_len.
    deterministic: the same order in every run and batch: that of the indices.
    tie_break: which of equal scores are chosen where not all are: a TopKTieBreak. NONE does as
        SMALL does.
    dsa_graph_safe: changes nothing: a CUDA graph may always capture the op.
    row_starts: (rows,), int32 or int64: where the scores of a row start, from which indices count.
        None is 0.
    out: (rows, k), int32. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def top_k_renorm_probs(
    probs: torch.Tensor,
    top_k: torch.Tensor | int,
    is_deterministic: bool = False,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """The top_k most likely tokens, divided by their sum; 0 for the others.

    A token is kept if fewer than top_k are likelier: equals of the last are kept together. A row is
    the same, bit by bit, in every run and in whatever batch.

    probs: (rows, vocab), as of top_p_renorm_probs; they need not add up to 1.
    top_k: a number, or (rows,) of int32 or int64. From vocab on it keeps all, and so does what is
        below 1, by which engines mean that there is no limit.
    is_deterministic: looked at no more; it always is.
    out: like probs, of its dtype, rows at any pitch; may be probs itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def top_k_sampling_from_probs(
    probs: torch.Tensor,
    top_k: torch.Tensor | int,
    indices: torch.Tensor | None = None,
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    return_valid: bool = False,
    *,
    out: torch.Tensor | None = None,
    valid: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """A token from the top_k most likely of each row.

    A token is kept if fewer than top_k are likelier: equals of the last are kept together. The
    other arguments are sampling_from_probs's.

    probs: (rows, vocab), as of sampling_from_probs.
    top_k: a number, or (rows,) of int32 or int64: one for each row of probs. From vocab on it keeps
        all, and so does what is below 1, by which engines mean that there is no limit.
    """

def top_k_top_p_sampling_from_logits(
    logits: torch.Tensor,
    top_k: torch.Tensor | int,
    top_p: torch.Tensor | float,
    indices: torch.Tensor | None = None,
    filter_apply_order: str = "top_k_first",
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """top_k_top_p_sampling_from_probs of the softmax of the logits, which takes a buffer of fp32.

    logits: (rows, vocab), of up to 2^20 elements a row; the elements of a row are neighbours, the
        rows at any pitch. 16-bit ones are read as they are. What is drawn from a row whose softmax
        is NaN (see softmax) is some token of the vocabulary.
    top_k, top_p, filter_apply_order: as there; of what is to be kept for each token.
    indices: (batch,), int32 or int64: the row that each token is drawn from. None draws one from
        every row.
    deterministic: it always is, bit by bit. Here for FlashInfer's callers.
    check_nan: refuse logits whose softmax has a NaN, which waits for the GPU.
    generator, seed, offset: where the random numbers come from, as in sampling_from_logits.
    out: (batch,), int32 or int64. None allocates it with indices' dtype, or int32.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def top_k_top_p_sampling_from_probs(
    probs: torch.Tensor,
    top_k: torch.Tensor | int,
    top_p: torch.Tensor | float,
    indices: torch.Tensor | None = None,
    filter_apply_order: str = "top_k_first",
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    return_valid: bool = False,
    *,
    out: torch.Tensor | None = None,
    valid: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """A token from the most likely of each row, by their number and by what they add up to.

    The other arguments are sampling_from_probs's.

    probs: (rows, vocab), as of sampling_from_probs.
    top_k: as of top_k_sampling_from_probs.
    top_p: as of top_p_sampling_from_probs.
    filter_apply_order: "top_k_first": top_p is a part of what those add up to that top_k keeps.
        "joint": what both keep of the row.
    """

def top_p_renorm_probs(
    probs: torch.Tensor,
    top_p: torch.Tensor | float,
    is_deterministic: bool = False,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """The most likely tokens that add up to top_p, divided by their sum; 0 for the others.

    A token is kept if those that are likelier add up to less than top_p: equals are kept together.
    A row is the same, bit by bit, in every run and in whatever batch.

    probs: (rows, vocab), of up to 1048576 tokens, fp32, fp16 or bf16, rows at any pitch; they add
        up to 1. NaN and what is below 0 count as 0; a row of nothing else gives zeros.
    top_p: a number, or (rows,). From 1 on it keeps all, at 0 and below, or where the tensor has
        NaN, only the likeliest.
    is_deterministic: looked at no more; it always is.
    out: like probs, fp32, rows at any pitch; may be probs itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """

def top_p_sampling_from_probs(
    probs: torch.Tensor,
    top_p: torch.Tensor | float,
    indices: torch.Tensor | None = None,
    deterministic: bool = True,
    generator: torch.Generator | None = None,
    check_nan: bool = False,
    seed: int | torch.Tensor | None = None,
    offset: int | torch.Tensor | None = None,
    return_valid: bool = False,
    *,
    out: torch.Tensor | None = None,
    valid: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """A token from the most likely of each row that add up to top_p.

    A token is kept if those that are likelier add up to less than top_p: equals are kept together.
    The other arguments are sampling_from_probs's.

    probs: (rows, vocab), as of sampling_from_probs; here they add up to 1.
    top_p: a number, or (rows,): one for each row of probs. From 1 on it keeps all, at 0 and below,
        or where the tensor has NaN, only the likeliest.
    """
