"""How large workspaces have to be for a plan of pages."""

from __future__ import annotations

import torch

from ._arguments import Dtype, dtypes_of
from ._lengths import lengths
from ._prefill_wrapper import PrefillWrapper

NAMES = ("qo_indptr", "paged_kv_indptr", "paged_kv_last_page_len", "seq_lens")


class PagedWorkspaceSize(PrefillWrapper):
    """workspace_size() of a wrapper, with the arguments of its plan()."""

    def workspace_size(
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
    ) -> tuple[int, int]:
        """The bytes that plan() of the same would need: of floats, and of the list of work."""
        chosen = self._options(
            num_qo_heads,
            num_kv_heads,
            head_dim_qk,
            head_dim_vo,
            dtypes_of(self._op, q_data_type, kv_data_type, o_data_type),
            causal=causal,
            window_left=window_left,
            soft_cap=logits_soft_cap,
            sm_scale=sm_scale,
            rope_scale=rope_scale,
            rope_theta=rope_theta,
            positions=pos_encoding_mode,
            fixed_split=(fixed_split_size or 0) * page_size,
            split=not disable_split_kv,
        )
        batch = lengths(
            self._op,
            paged_kv_indptr,
            qo_indptr,
            paged_kv_last_page_len,
            seq_lens,
            page_size=page_size,
            names=NAMES,
        ).uniform(uniform_q_len)
        return self._workspace_bytes(
            batch, chosen, custom_mask is not None or packed_custom_mask is not None
        )
