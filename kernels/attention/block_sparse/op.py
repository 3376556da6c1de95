"""Attention in which blocks of queries see blocks of keys, planned where the mask is."""

from __future__ import annotations

from functools import partialmethod

import torch

from fictl.op import KernelModule, op

from .._arguments.dtypes import Dtype, dtypes_of
from .._arguments.lse import finished_lse, lse_for_kernel
from .._arguments.numbers import Number, scale
from .._arguments.options import Heads, Options, options
from .._arguments.refusals import refuse_given
from .._backends import PREFILL, check_backend
from .._plan.workspace import check_workspace
from ..prefill.op import BatchPrefillWithPagedKVCacheWrapper
from . import checks
from .attend import attend
from .mask_plan import MaskPlan
from .rows_plan import RowsPlan

# Plans; what runs is a kernel of prefill.
kernel = KernelModule(__file__)
_ATTEND = BatchPrefillWithPagedKVCacheWrapper.kernel

_POSITIONS = "keys of blocks have no positions of their own: rotate q and k before"
_BLACKWELL = "it is for kernels of FlashInfer that are not here; pass indptr and indices"
_FP8 = "queries of fp8 are not here; keys and values may be of fp8 without scales"


class BlockSparse:
    """Options of a plan and the device, which both wrappers have."""

    def __init__(self, float_workspace_buffer: torch.Tensor, backend: str = "auto") -> None:
        self._op = type(self).__name__
        check_backend(self._op, backend, PREFILL)
        check_workspace(self._op, "float_workspace_buffer", float_workspace_buffer)
        self.device = float_workspace_buffer.device
        self._asked = backend
        self._chosen: Options | None = None

    def reset_workspace_buffer(
        self, float_workspace_buffer: torch.Tensor, int_workspace_buffer: torch.Tensor
    ) -> None:
        """Check both, of which nothing is used: lists are as large as masks say."""
        check_workspace(self._op, "float_workspace_buffer", float_workspace_buffer)
        check_workspace(self._op, "int_workspace_buffer", int_workspace_buffer)

    def _choose(
        self,
        heads: Heads,
        dtypes: tuple[Dtype, Dtype | None, Dtype | None],
        *,
        causal: bool,
        positions: str,
        soft_cap: float | None,
        sm_scale: float | None,
    ) -> Options:
        chosen = options(
            self._op,
            heads,
            dtypes_of(self._op, *dtypes),
            causal=causal,
            window_left=-1,
            soft_cap=soft_cap,
            sm_scale=sm_scale,
            rope_scale=None,
            rope_theta=None,
            positions=positions,
        )
        if positions != "NONE":
            raise NotImplementedError(
                f"{self._op}: argument 'pos_encoding_mode' is {positions!r}; {_POSITIONS}"
            )
        return chosen

    def _planned(self) -> Options:
        if self._chosen is None:
            raise RuntimeError(f"{self._op}: run() was called before plan()")
        return self._chosen


class BlockSparseAttentionWrapper(BlockSparse):
    """Attention whose mask is a matrix of blocks in rows (BSR), the same for all heads.

    float_workspace_buffer: its device is where plans and tensors are; nothing of it is used.
    backend: "fa2" or "fa3": the kernels for any GPU, or for Hopper; "auto" chooses.
    """

    def plan(
        self,
        indptr: torch.Tensor,
        indices: torch.Tensor,
        M: int,
        N: int,
        R: int,
        C: int,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim: int,
        mask: torch.Tensor | None = None,
        packed_mask: torch.Tensor | None = None,
        causal: bool = False,
        pos_encoding_mode: str = "NONE",
        use_fp16_qk_reduction: bool = False,
        logits_soft_cap: float | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        q_data_type: Dtype = "float16",
        kv_data_type: Dtype | None = None,
        o_data_type: Dtype = "float16",
        non_blocking: bool = True,
        block_mask: torch.Tensor | None = None,
        kv_block_lens: torch.Tensor | None = None,
        q2k_indices: torch.Tensor | None = None,
        q2k_num: torch.Tensor | None = None,
        kv_splits: int | None = None,
        use_clc: bool | None = None,
        q_scale: Number | None = None,
        k_scale: Number | None = None,
        v_scale: Number | None = None,
    ) -> None:
        """Plan on the device, for any number of run(); nothing is waited for.

        indptr: (M / R + 1,), int32: where the blocks of each row begin in indices, and where the
            last ones end. Rows without blocks give zeros.
        indices: (nnz,), int32: the columns of the blocks, below N / C, in any order.
        M, N: queries and keys. R, C: of a block; they divide M and N.
        mask: bool, (nnz, R, C): which scores of a block are seen. causal is not asked then.
        packed_mask: the same in bits, from the lowest of a byte on: of each row of blocks (R, its
            keys) flattened, from a byte of its own on.
        causal: the queries of a row of blocks are the last of the keys that it selects, and a query
            sees none after its own.
        logits_soft_cap: keep scores within it; None and 0 do not. sm_scale: None is
            1 / sqrt(head_dim).
        use_fp16_qk_reduction, rope_scale, rope_theta: ignored: sums are in fp32.
        q_data_type, kv_data_type, o_data_type: None is the queries'.
        q_scale, k_scale, v_scale: further factors of scores and of the result.
        The others are FlashInfer's own, which are refused, as positions are.

        What the GPU finds wrong in indptr and indices is raised by a later call; at once with
        FICTL_VALIDATE_INPUTS=1.
        """
        refuse_given(
            self._op,
            _BLACKWELL,
            block_mask=block_mask,
            kv_block_lens=kv_block_lens,
            q2k_indices=q2k_indices,
            q2k_num=q2k_num,
            kv_splits=kv_splits,
            use_clc=use_clc,
        )
        heads = Heads(num_qo_heads, num_kv_heads, head_dim)
        chosen = self._choose(
            heads,
            (q_data_type, kv_data_type, o_data_type),
            causal=causal,
            positions=pos_encoding_mode,
            soft_cap=logits_soft_cap,
            sm_scale=sm_scale,
        )
        self._scale = scale(self._op, q_scale=q_scale, k_scale=k_scale)
        self._v_scale = scale(self._op, v_scale=v_scale)
        tokens = (M, N)
        self._rows = RowsPlan(
            self._op, kernel.plan_rows, self.device, self._asked, tokens, (R, C), chosen
        )
        self._rows.plan(indptr, indices, mask, packed_mask)
        self._chosen = chosen

    begin_forward = plan

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
        k: torch.Tensor,
        v: torch.Tensor,
        scale_q: torch.Tensor | None = None,
        scale_k: torch.Tensor | None = None,
        scale_v: torch.Tensor | None = None,
        out: torch.Tensor | None = None,
        lse: torch.Tensor | None = None,
        return_lse: bool = False,
        enable_pdl: bool | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Attention of the planned matrix: the result, or (that, lse), lse to base 2.

        q: (M, num_qo_heads, head_dim).
        k, v: (N, num_kv_heads, head_dim). q, k, v and out: last dimension contiguous, any stride for
            tokens and heads.
        scale_q, scale_k, scale_v: of queries of fp8, which are refused.
        out: like q, of o_data_type. None allocates it.
        lse: (M, num_qo_heads), fp32. None allocates it.
        """
        chosen = self._planned()
        refuse_given(self._op, _FP8, scale_q=scale_q, scale_k=scale_k, scale_v=scale_v)
        self._rows.fault.check()
        queries, keys = self._rows.tokens
        shape = (keys, chosen.kv_heads, chosen.head_dim)
        shapes = {"q": (queries, chosen.heads, chosen.head_dim), "k": shape, "v": shape}
        checks.tensors(self._op, chosen, shapes, q=q, k=k, v=v)
        out = checks.output(self._op, out, q, chosen.o)
        written = lse_for_kernel(self._op, lse, q) if return_lse else None
        attend(
            self._op,
            _ATTEND,
            chosen,
            self._rows.listed,
            q,
            k,
            v,
            hnd=False,
            tile=self._rows.tile,
            out=out,
            lse=written,
            scale=self._scale,
            v_scale=self._v_scale,
            enable_pdl=enable_pdl,
        )
        return out if written is None else (out, written)

    run_return_lse = partialmethod(run, return_lse=True)


class VariableBlockSparseAttentionWrapper(BlockSparse):
    """Attention whose mask has blocks of any sizes, and differs by the head of the keys.

    float_workspace_buffer: its device is where plans and tensors are; nothing of it is used.
    backend: "fa2" or "fa3": the kernels for any GPU, or for Hopper; "auto" chooses.
    """

    def plan(
        self,
        block_mask_map: torch.Tensor,
        block_row_sz: torch.Tensor,
        block_col_sz: torch.Tensor,
        num_qo_heads: int,
        num_kv_heads: int,
        head_dim: int,
        causal: bool = False,
        pos_encoding_mode: str = "NONE",
        use_fp16_qk_reduction: bool = False,
        logits_soft_cap: float | None = None,
        sm_scale: float | None = None,
        rope_scale: float | None = None,
        rope_theta: float | None = None,
        non_blocking: bool = True,
        q_data_type: Dtype = "float16",
        kv_data_type: Dtype | None = None,
    ) -> None:
        """Plan on the device, for any number of run(); nothing is waited for.

        block_mask_map: bool, (num_kv_heads, row blocks, column blocks), on the wrapper's device:
            which blocks of keys the queries of a block see. Rows without blocks give zeros.
        block_row_sz: (num_kv_heads, row blocks), int32: the queries of each block.
        block_col_sz: (num_kv_heads, column blocks), int32: the keys of each block.
        causal: the queries of a row of blocks are the last of the keys that it selects, and a query
            sees none after its own.
        The others are BlockSparseAttentionWrapper's.

        Sizes that are negative, or do not add up to the queries and keys of run(), are raised by a
        later call; at once with FICTL_VALIDATE_INPUTS=1.
        """
        heads = Heads(num_qo_heads, num_kv_heads, head_dim)
        chosen = self._choose(
            heads,
            (q_data_type, kv_data_type, None),
            causal=causal,
            positions=pos_encoding_mode,
            soft_cap=logits_soft_cap,
            sm_scale=sm_scale,
        )
        self._mask = MaskPlan(
            self._op, kernel.list_mask, kernel.share_mask, self.device, self._asked, chosen
        )
        self._mask.plan(block_mask_map, block_row_sz, block_col_sz)
        self._chosen = chosen

    begin_forward = plan

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
        k: torch.Tensor,
        v: torch.Tensor,
        out: torch.Tensor | None = None,
        lse: torch.Tensor | None = None,
        return_lse: bool = False,
        enable_pdl: bool | None = None,
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """Attention of the planned mask: the result, or (that, lse), lse to base 2.

        The first run() of a plan, and one of other lengths, shares out the work on the device.

        q: (num_qo_heads, queries, head_dim).
        k, v: (num_kv_heads, keys, head_dim). q, k, v and out: last dimension contiguous, any stride
            for tokens and heads.
        out: like q. None allocates it.
        lse: (num_qo_heads, queries), fp32. None allocates it.
        """
        chosen = self._planned()
        self._mask.fault.check()
        for name, x in (("q", q), ("k", k)):
            if x.ndim != 3:
                raise ValueError(
                    f"{self._op}: argument '{name}' has shape {tuple(x.shape)}; it is (heads, "
                    "tokens, head_dim)"
                )
        tokens = (q.shape[1], k.shape[1])
        shape = (chosen.kv_heads, tokens[1], chosen.head_dim)
        shapes = {"q": (chosen.heads, tokens[0], chosen.head_dim), "k": shape, "v": shape}
        checks.tensors(self._op, chosen, shapes, q=q, k=k, v=v)
        out = checks.output(self._op, out, q, chosen.o)
        by_token = q.transpose(0, 1)
        written = lse_for_kernel(self._op, lse, by_token, "HN") if return_lse else None
        listed, tile = self._mask.share(*tokens)
        attend(
            self._op,
            _ATTEND,
            chosen,
            listed,
            by_token,
            k,
            v,
            hnd=True,
            tile=tile,
            out=out.transpose(0, 1),
            lse=written,
            scale=1.0,
            v_scale=1.0,
            enable_pdl=enable_pdl,
        )
        return out if written is None else (out, finished_lse(written, lse, "log2", "HN"))

    run_return_lse = partialmethod(run, return_lse=True)
